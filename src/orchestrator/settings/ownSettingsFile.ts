import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser';
import type { OutsideLinks } from '../stories/outsideLinks.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the person's own settings file; `undefined` if the environment does not define it. */
export function ownSettingsFile(env: Environment, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32') {
    const roaming =
      env['APPDATA'] || (env['USERPROFILE'] && `${env['USERPROFILE']}\\AppData\\Roaming`);
    return roaming ? path.win32.join(roaming, 'ralph-fresh', 'config.json') : undefined;
  }
  const home = env['HOME'] && path.posix.join(env['HOME'], '.config');
  // According to the standard, a relative path must be ignored.
  const folder = [env['XDG_CONFIG_HOME'], home].find(
    place => place !== undefined && path.posix.isAbsolute(place),
  );
  return folder ? path.posix.join(folder, 'ralph-fresh', 'config.json') : undefined;
}

/**
 * The settings in that file for links that lead out of a repository. For code that reads no other settings: an
 * invalid file allows nothing, and the next run reports it.
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

/** Whether that file lets agents read issues of outsiders. Like {@link ownOutsideLinks}, for code that reads no others. */
export function ownOutsiderTexts(env: Environment, platform: NodeJS.Platform): boolean {
  const settingsFile = ownSettingsFile(env, platform);
  const root: unknown = settingsFile === undefined ? undefined : readIfThere(settingsFile);
  return (
    typeof root === 'object' &&
    root !== null &&
    'githubOutsiders' in root &&
    root.githubOutsiders === true
  );
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
    // Usually there is no file; an invalid one is reported when all settings are read.
    return undefined;
  }
}
