import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { isToolName } from '../../base/toolName.ts';
import { STORY_TOOLS } from '../agents/claude/claude.ts';
import { ownSettingsFile } from './ownSettingsFile.ts';
import { readSettingsFile } from './settingsFile.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 64 * 1024;
const MAX_TOOLS = 200;
/** Files of runs that are older than this are removed, in ms. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/**
 * The file with the tools that a person has allowed while a run was active, for its next agents. It is next to the
 * person's own settings, since an agent can write into the workspace, and must not be able to allow itself anything.
 * @returns `undefined` if the environment does not name that folder
 */
export function grantedToolsFile(
  env: Environment,
  platform: NodeJS.Platform,
  runId: string,
): string | undefined {
  const own = ownSettingsFile(env, platform);
  return own && path.join(path.dirname(own), 'allowed-tools', `${path.basename(runId)}.json`);
}

/** The tools in that file; none if there is no such file, or not a readable one. */
export async function grantedTools(file: string | undefined): Promise<readonly string[]> {
  const content =
    file === undefined ? undefined : await readPlainFile(file, MAX_BYTES).catch(() => undefined);
  try {
    const found: unknown = JSON.parse(content?.toString('utf8') ?? '[]');
    return (Array.isArray(found) ? found : [])
      .filter((tool): tool is string => typeof tool === 'string' && isToolName(tool))
      .slice(0, MAX_TOOLS);
  } catch {
    // Nobody but us writes it; a damaged one allows nothing.
    return [];
  }
}

/** Allows a tool for the next agents of a run. @throws {HumanError} if the file cannot be written */
export async function grantTool(file: string, tool: string): Promise<void> {
  const tools = new Set([...(await grantedTools(file)), tool]);
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await removeOld(path.dirname(file));
    await writePlainFile(file, `${JSON.stringify([...tools])}\n`, 0o600);
  } catch (error) {
    throw new HumanError(
      say('{0} cannot be written ({1}). Check its permissions.', file, messageOf(error)),
      { cause: error },
    );
  }
}

/** The tools that agents may use without a setting of the window: those of the person's own file, or the default. */
export async function personsTools(
  env: Environment,
  platform: NodeJS.Platform,
): Promise<readonly string[]> {
  const own = ownSettingsFile(env, platform);
  const given = own === undefined ? {} : await readSettingsFile(own, { kind: 'person' });
  return given.allowedTools ?? STORY_TOOLS;
}

async function removeOld(folder: string): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file);
    if (now - mtimeMs > MAX_AGE_MS) {
      await rm(file, { force: true });
    }
  }
}
