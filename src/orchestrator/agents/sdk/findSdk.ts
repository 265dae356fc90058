import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';

const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk';

export interface FindSdkOptions {
  /** The person's setting: the package's folder, a folder with `node_modules`, or the module's file. */
  readonly sdkPath?: string | undefined;
  /** Absolute path of the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly platform?: NodeJS.Platform;
}

/**
 * Searches for the Claude Agent SDK at the configured path, then in the packages of the workspace and of its parent
 * folders, then where `npm install -g` puts packages (without running npm, which takes a second).
 *
 * Security: importing a module from below the workspace runs code of the workspace. A run does that anyway, because
 * it lets an agent execute the workspace's commands; but it means that this must only be called for a workspace
 * that a person trusts.
 *
 * @returns absolute path of the module to import
 * @throws {HumanError} if there is none
 */
export async function findSdk(options: FindSdkOptions): Promise<string> {
  const setting = options.sdkPath?.trim();
  if (setting) {
    return findSetting(setting, options);
  }
  for (const folder of [...aboveFolders(options.cwd), ...globalFolders(options)]) {
    const entry = await entryOf(path.join(folder, SDK_PACKAGE));
    if (entry !== undefined) return entry;
  }
  throw new HumanError(
    say(
      'The Claude Agent SDK was not found in the workspace or among the global packages. Install it with `npm install -g {0}`, or choose the agent claude, which needs no SDK.',
      SDK_PACKAGE,
    ),
  );
}

async function findSetting(setting: string, { cwd, home }: FindSdkOptions): Promise<string> {
  const full = path.resolve(cwd, setting.replace(/^~(?=[\\/]|$)/, home));
  if (/\.[cm]?js$/.test(full) && existsSync(full)) return full;
  const folders = [
    full,
    path.join(full, SDK_PACKAGE),
    path.join(full, 'node_modules', SDK_PACKAGE),
  ];
  for (const folder of folders) {
    const entry = await entryOf(folder);
    if (entry !== undefined) return entry;
  }
  throw new HumanError(
    say(
      '"{0}", set as the path of the Claude Agent SDK, does not contain it. Set it to the folder {1} that npm created, or leave it empty to search for it.',
      setting,
      SDK_PACKAGE,
    ),
  );
}

/** The file that an `import` of the package at this folder would load. */
async function entryOf(folder: string): Promise<string | undefined> {
  let manifest: { readonly name?: unknown; readonly main?: unknown };
  try {
    manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) ?? {};
  } catch {
    // Missing, or not a package: the next folder may have it.
    return undefined;
  }
  if (manifest.name !== SDK_PACKAGE) return undefined;
  const entry = path.join(folder, typeof manifest.main === 'string' ? manifest.main : 'sdk.mjs');
  const isFile = await stat(entry).then(
    info => info.isFile(),
    () => false,
  );
  return isFile ? entry : undefined;
}

function aboveFolders(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    folders.push(path.join(folder, 'node_modules'));
    if (path.dirname(folder) === folder) return folders;
  }
}

function globalFolders({ env, home, platform = process.platform }: FindSdkOptions): string[] {
  const isWindows = platform === 'win32';
  const get = (name: string) =>
    isWindows ? Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1] : env[name];
  const list = (name: string) =>
    (get(name) ?? '').split(isWindows ? ';' : ':').filter(folder => path.isAbsolute(folder));
  // Next to the folder of npm's programs, which is in PATH for people who install with -g.
  const packagesOf = (bin: string) =>
    isWindows ? path.join(bin, 'node_modules') : path.join(bin, '..', 'lib', 'node_modules');
  const usual = isWindows
    ? [path.join(get('APPDATA') ?? path.join(home, 'AppData', 'Roaming'), 'npm', 'node_modules')]
    : [
        path.join(home, '.npm-global', 'lib', 'node_modules'),
        '/opt/homebrew/lib/node_modules',
        '/usr/local/lib/node_modules',
        '/usr/lib/node_modules',
      ];
  return [
    ...new Set([
      ...list('NODE_PATH'),
      ...list('PATH').map(packagesOf),
      packagesOf(path.dirname(process.execPath)),
      ...usual,
    ]),
  ];
}
