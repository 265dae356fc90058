import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser';
import type { OutsideLinks } from '../stories/outsideLinks.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The person's own file of settings; `undefined` when the environment names no place for it. */
export function ownSettingsFile(env: Environment, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32') {
    const roaming =
      env['APPDATA'] || (env['USERPROFILE'] && `${env['USERPROFILE']}\\AppData\\Roaming`);
    return roaming ? path.win32.join(roaming, 'ralph-fresh', 'config.json') : undefined;
  }
  const home = env['HOME'] && path.posix.join(env['HOME'], '.config');
  // The standard says that a relative one is to be ignored.
  const folder = [env['XDG_CONFIG_HOME'], home].find(
    place => place !== undefined && path.posix.isAbsolute(place),
  );
  return folder ? path.posix.join(folder, 'ralph-fresh', 'config.json') : undefined;
}

/**
 * What that file allows of links that lead out of a repository. For whoever reads no settings otherwise: a mistake in the file
 * allows nothing, and is told by the next run.
 */
export function ownOutsideLinks(env: Environment, platform: NodeJS.Platform): OutsideLinks {
  const settingsFile = ownSettingsFile(env, platform);
  const root: unknown = settingsFile === undefined ? undefined : readIfThere(settingsFile);
  const named: unknown =
    typeof root === 'object' && root !== null && 'outsideLinks' in root ? root.outsideLinks : [];
  const home = env['HOME'] ?? env['USERPROFILE'];
  return {
    settingsFile,
    allowed: (Array.isArray(named) ? named : []).flatMap(place =>
      typeof place === 'string' ? (absolute(place, home) ?? []) : [],
    ),
  };
}

function absolute(place: string, home: string | undefined): string | undefined {
  return path.isAbsolute(place)
    ? place
    : home !== undefined && /^~[\\/]/.test(place)
      ? path.join(home, place.slice(2))
      : undefined;
}

function readIfThere(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch {
    // None is the rule; what is wrong with one is told by whoever reads all of it.
    return undefined;
  }
}
