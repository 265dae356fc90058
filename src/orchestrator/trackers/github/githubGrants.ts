import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../../base/humanError.ts';
import { writePlainFile } from '../../../base/plainFile.ts';
import { say } from '../../../base/say.ts';
import { ownSettingsFile } from '../../settings/ownSettingsFile.ts';
import { type GithubSource, githubSourceSchema } from './githubSource.ts';

/**
 * For which folders the person has asked for issues on GitHub. It is in the person's own settings folder: a copy of
 * issues that comes with a repository must not send anybody's token anywhere.
 */
export interface GithubGrant {
  readonly source: GithubSource;
  readonly baseUrl: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const grantsSchema = z.object({
  folders: z.record(z.string(), z.object({ source: githubSourceSchema, baseUrl: z.string() })),
});

function grantsFile(env: Environment): string | undefined {
  const settings = ownSettingsFile(env, process.platform);
  return settings === undefined ? undefined : path.join(path.dirname(settings), 'github.json');
}

async function readGrants(env: Environment): Promise<z.infer<typeof grantsSchema>> {
  const file = grantsFile(env);
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  try {
    const parsed = grantsSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : { folders: {} };
  } catch {
    return { folders: {} };
  }
}

/** @param folder absolute path of the workspace */
export async function readGrant(
  env: Environment,
  folder: string,
): Promise<GithubGrant | undefined> {
  const { folders } = await readGrants(env);
  const grant = Object.hasOwn(folders, folder) ? folders[folder] : undefined;
  return grant && { baseUrl: grant.baseUrl, source: withoutAbsent(grant.source) };
}

/** @param grant absent: the person does not want it any more */
export async function writeGrant(
  env: Environment,
  folder: string,
  grant: GithubGrant | undefined,
): Promise<void> {
  const file = grantsFile(env);
  if (file === undefined) {
    throw new HumanError(
      say(
        'There is no place for your own settings: the environment has no HOME (APPDATA on Windows).',
      ),
    );
  }
  const { folders } = await readGrants(env);
  const others = Object.entries(folders).filter(([name]) => name !== folder);
  await mkdir(path.dirname(file), { recursive: true });
  const all = grant === undefined ? others : [...others, [folder, grant]];
  await writePlainFile(file, `${JSON.stringify({ folders: Object.fromEntries(all) }, null, 2)}\n`);
}

function withoutAbsent({
  labels,
  milestone,
  repository,
}: z.infer<typeof githubSourceSchema>): GithubSource {
  return { repository, labels, ...(milestone !== undefined && { milestone }) };
}
