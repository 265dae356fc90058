import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say, type Words } from '../../base/say.ts';

export interface FindProgramOptions {
  /** The program from the person's settings: a path, `~/…`, or another name to search for. */
  readonly setting?: string | undefined;
  /** The setting's name for the error message; default `<name>Path`, with its flag and its name in VS Code. */
  readonly settingName?: Words;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/**
 * Searches for a program at the configured path, then in `PATH`, then where its installers put it: an editor
 * started from a desktop often has a shorter `PATH` than the person's shell.
 *
 * On Windows the result may be a `.cmd` shim, which needs a spawner that supports them (execa does).
 *
 * @returns an absolute path, or undefined if the program was not found
 * @throws {HumanError} if the setting names something that cannot be executed
 */
export async function findProgram(
  name: string,
  options: FindProgramOptions,
): Promise<string | undefined> {
  const setting = options.setting?.trim();
  if (setting) return findSetting(name, setting, options);
  return firstProgram([...pathFolders(options), ...usualFolders(options)], name, options);
}

/**
 * Whether a shell in a folder finds a program by its name alone: also below relative folders of `PATH`, and on Windows
 * in the folder itself.
 */
export function isOnPath(
  name: string,
  { cwd, env, platform }: Pick<FindProgramOptions, 'env' | 'platform'> & { readonly cwd: string },
): boolean {
  const isWindows = platform === 'win32';
  const ofPath = (variable(env, 'PATH', platform) ?? '').split(isWindows ? ';' : ':');
  // There, entries may be in quotation marks, and a file may be opened by what its name ends with.
  const folders = isWindows ? [cwd, ...ofPath.map(one => one.replaceAll('"', ''))] : ofPath;
  const others = isWindows && path.extname(name) !== '' ? [name] : [];
  const names = [...fileNames(name, { env, platform }), ...others];
  return folders.some(folder =>
    names.some(file => isProgram(path.resolve(cwd, folder, file), platform)),
  );
}

async function findSetting(
  name: string,
  setting: string,
  options: FindProgramOptions,
): Promise<string> {
  const isName = !/[\\/]/.test(setting);
  const expanded = setting.replace(/^~(?=[\\/])/, options.home);
  const found = isName
    ? await firstProgram(pathFolders(options), setting, options)
    : await firstProgram([path.dirname(path.resolve(expanded))], path.basename(expanded), options);
  if (found !== undefined) return found;
  const own = `${name}Path`;
  const {
    settingName = say('{0} ({1}, in VS Code {2})', own, `--${name}-path`, `ralphFresh.${own}`),
  } = options;
  // The configured name is the only one to look for.
  if (/[\\/]/.test(name) || name === setting) {
    throw new HumanError(
      say(
        '"{0}", set as {1}, cannot be run. Set it to the full path of a program; a script must be executable (chmod +x).',
        setting,
        settingName,
      ),
    );
  }
  throw new HumanError(
    say(
      '"{0}", set as {1}, cannot be run. Set it to the full path of {2}, or leave it empty to search for {2}.',
      setting,
      settingName,
      name,
    ),
  );
}

async function firstProgram(
  folders: readonly string[],
  name: string,
  options: FindProgramOptions,
): Promise<string | undefined> {
  for (const folder of folders) {
    for (const file of fileNames(name, options)) {
      const candidate = path.join(folder, file);
      if (isProgram(candidate, options.platform)) return candidate;
    }
  }
  return undefined;
}

function fileNames(
  name: string,
  { env, platform }: Pick<FindProgramOptions, 'env' | 'platform'>,
): string[] {
  if (platform !== 'win32') return [name];
  const extensions = (variable(env, 'PATHEXT', platform) ?? '.COM;.EXE;.BAT;.CMD')
    .toLowerCase()
    .split(';')
    .filter(extension => extension !== '');
  // Next to its shim `claude.cmd`, npm puts a shell script `claude`, which Windows cannot run.
  return extensions.includes(path.extname(name).toLowerCase())
    ? [name]
    : extensions.map(extension => name + extension);
}

function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return true;
  } catch {
    return platform === 'win32' && isStoreProgram(file);
  }
}

/** Programs of the Microsoft Store are links that only Windows can follow (https://github.com/nodejs/node/issues/36790). */
function isStoreProgram(file: string): boolean {
  try {
    return !lstatSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** The folders of `PATH` without relative ones, which would let the opened workspace provide its own program. */
function pathFolders({ env, platform }: FindProgramOptions): string[] {
  return (variable(env, 'PATH', platform) ?? '')
    .split(platform === 'win32' ? ';' : ':')
    .filter(folder => path.isAbsolute(folder));
}

function usualFolders({ env, home, platform }: FindProgramOptions): string[] {
  const folders = [path.join(home, '.local', 'bin'), path.join(home, '.claude', 'local')];
  if (platform !== 'win32') {
    return [
      ...folders,
      '/opt/homebrew/bin',
      '/usr/local/bin',
      path.join(home, '.npm-global', 'bin'),
    ];
  }
  const roaming = variable(env, 'APPDATA', platform) ?? path.join(home, 'AppData', 'Roaming');
  const local = variable(env, 'LOCALAPPDATA', platform) ?? path.join(home, 'AppData', 'Local');
  return [
    ...folders,
    path.join(roaming, 'npm'),
    path.join(local, 'Microsoft', 'WinGet', 'Links'),
    path.join(home, '.npm-global'),
  ];
}

/** On Windows, environment variables are case-insensitive (`Path`), but a copy of the environment is not. */
function variable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (platform !== 'win32') return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
