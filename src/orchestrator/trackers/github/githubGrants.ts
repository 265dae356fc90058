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

const grantSchema = z.object({
  source: githubSourceSchema,
  baseUrl: z.string().refine(url => URL.canParse(url)),
});

/** One entry that is not valid must not take the others with it. */
const grantsSchema = z.looseObject({ folders: z.record(z.string(), z.unknown()) });

function grantsFile(env: Environment): string | undefined {
  const settings = ownSettingsFile(env, process.platform);
  return settings === undefined ? undefined : path.join(path.dirname(settings), 'github.json');
}

/** @returns `undefined` if the file cannot be read as what it should be */
async function readGrants(
  file: string | undefined,
): Promise<z.infer<typeof grantsSchema> | undefined> {
  try {
    const text = file === undefined ? undefined : await readFile(file, 'utf8');
    return text === undefined ? { folders: {} } : grantsSchema.parse(JSON.parse(text));
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isAbsent ? { folders: {} } : undefined;
  }
}

/** @param folder absolute path of the workspace */
export async function readGrant(
  env: Environment,
  folder: string,
): Promise<GithubGrant | undefined> {
  const { folders = {} } = (await readGrants(grantsFile(env))) ?? {};
  const grant = grantSchema.safeParse(Object.hasOwn(folders, folder) ? folders[folder] : undefined);
  return grant.success
    ? { baseUrl: grant.data.baseUrl, source: withoutAbsent(grant.data.source) }
    : undefined;
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
  const known = await readGrants(file);
  if (known === undefined) {
    throw new HumanError(
      say(
        '{0} cannot be read, so it is not written to. Correct it, or delete it to name your repositories again.',
        file,
      ),
    );
  }
  const others = Object.entries(known.folders).filter(([name]) => name !== folder);
  await mkdir(path.dirname(file), { recursive: true });
  const all = grant === undefined ? others : [...others, [folder, grant]];
  const text = JSON.stringify({ ...known, folders: Object.fromEntries(all) }, null, 2);
  await writePlainFile(file, `${text}\n`);
}

function withoutAbsent({
  labels,
  milestone,
  repository,
}: z.infer<typeof githubSourceSchema>): GithubSource {
  return { repository, labels, ...(milestone !== undefined && { milestone }) };
}
