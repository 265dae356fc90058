import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { workspaceKey } from '../git/workspaceKey.ts';

/** How the name of a place begins in which a person settles a conflict. */
export const SETTLING = 'settle-';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of a workspace's places, in the person's cache folder: outside of the workspace, so that no tool that
 * looks through it finds a second copy.
 *
 * @param workspace absolute path of an existing folder
 * @throws {HumanError} if the environment names no cache folder
 */
export function placesFolder(
  env: Environment,
  platform: NodeJS.Platform,
  workspace: string,
): string {
  const cache = cacheFolder(env, platform);
  if (cache === undefined) {
    throw new HumanError(
      say(
        'There is no folder for the places of the lanes, because the environment does not name your cache folder. Set {0}, and start again.',
        platform === 'win32' ? 'LOCALAPPDATA' : 'HOME',
      ),
    );
  }
  const join = platform === 'win32' ? path.win32.join : path.posix.join;
  return join(cache, 'ralph-fresh', 'places', workspaceKey(workspace));
}

/**
 * Prefix of the refs that hold the commits from which the places of a folder start, and what was kept of them; with
 * a slash at the end.
 * @param folder as {@link placesFolder} returns it
 */
export function placeRefs(folder: string): string {
  return `refs/ralph-fresh/places/${path.basename(folder)}/`;
}

function cacheFolder(env: Environment, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32') {
    return env['LOCALAPPDATA'] || (env['USERPROFILE'] && `${env['USERPROFILE']}\\AppData\\Local`);
  }
  const home = env['HOME'] && path.posix.isAbsolute(env['HOME']) ? env['HOME'] : undefined;
  if (platform === 'darwin') {
    return home && path.posix.join(home, 'Library', 'Caches');
  }
  const xdg = env['XDG_CACHE_HOME'];
  // According to the standard, a relative path must be ignored.
  return xdg && path.posix.isAbsolute(xdg) ? xdg : home && path.posix.join(home, '.cache');
}
