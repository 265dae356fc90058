import path from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { HumanError } from '../../base/humanError.ts';
import { englishOf, say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { unpushedCommits } from '../../orchestrator/git/unpushedCommits.ts';
import { AlreadyRunningError } from '../../orchestrator/loop/exclusiveWork.ts';
import type { Settings } from '../../orchestrator/settings/settingTable.ts';
import { readStoryBytesOrThrow } from '../../orchestrator/stories/storyFile.ts';
import type { GithubGrant } from '../../orchestrator/trackers/github/githubGrants.ts';
import { MIRROR_FILE, requireMirrorOf } from '../../orchestrator/trackers/github/githubMirror.ts';
import { GITHUB_API, type GithubSource } from '../../orchestrator/trackers/github/githubSource.ts';
import type { GithubTracker } from '../../orchestrator/trackers/github/githubTracker.ts';
import type { TrackerNote } from '../../orchestrator/trackers/tracker.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { livingLoop } from '../loopEnd.ts';
import { tell } from '../print.ts';
import type { RunFlags } from './startFlags.ts';

/** What a person has said about issues on GitHub, with this command or an earlier one. */
export type GithubFlags = Pick<RunFlags, 'github' | 'label' | 'milestone'>;

type GithubSettings = Partial<Pick<Settings, 'githubUrl' | 'githubWhenDone' | 'githubOutsiders'>>;

/** The issues that the command line names. */
export function namedSource({
  github,
  label = [],
  milestone,
}: GithubFlags): GithubSource | undefined {
  return github === undefined ? undefined : { repository: github, labels: label, milestone };
}

/**
 * Opens the issues of a repository as the stories of this folder, and makes or renews their copy.
 * @returns `undefined` if the person has not asked for that, with this command or before
 * @param isRun whether it is for a run, which continues without GitHub if it has a copy
 * @throws {HumanError} if there is no token, or GitHub cannot be read and there is no copy yet
 */
export async function beginGithub(
  files: RunFiles,
  named: GithubSource | undefined,
  settings: GithubSettings,
  isRun: boolean,
): Promise<GithubTracker | undefined> {
  if (isRun) {
    // The loop that is active works on the copy, and brings it up to date itself.
    const loop = await livingLoop(files);
    if (loop !== undefined) {
      throw new AlreadyRunningError(loop);
    }
  }
  // Loaded on demand: most runs have nothing to do with GitHub.
  const { readGrant, writeGrant } = await import(
    '../../orchestrator/trackers/github/githubGrants.ts'
  );
  const known = await readGrant(process.env, files.workspace);
  const grant: GithubGrant | undefined =
    named === undefined ? known : { source: named, baseUrl: settings.githubUrl ?? GITHUB_API };
  if (grant === undefined) {
    return undefined;
  }
  const baseUrl = settings.githubUrl ?? grant.baseUrl;
  const [{ findGithubToken }, { GithubApi }, { GithubTracker }] = await Promise.all([
    import('../../orchestrator/trackers/github/githubToken.ts'),
    import('../../orchestrator/trackers/github/githubApi.ts'),
    import('../../orchestrator/trackers/github/githubTracker.ts'),
  ]);
  const { from, token } = await findGithubToken(process.env, baseUrl);
  const api = await GithubApi.open({
    ...{ baseUrl, token, tokenFrom: from, version: packageJson.version },
  });
  const tracker = new GithubTracker({
    ...{ files, api, baseUrl, source: grant.source },
    whenDone: settings.githubWhenDone ?? 'comment',
    findUnpushed: hashes => unpushedCommits(files.workspace, hashes),
    includesOutsiders: settings.githubOutsiders ?? false,
    isFirst: known === undefined || !isOfRepository(known, grant),
    isRun,
  });
  tellNotes(await tracker.begin());
  if (named !== undefined) {
    await writeGrant(process.env, files.workspace, grant);
  }
  return tracker;
}

function isOfRepository(one: GithubGrant, other: GithubGrant): boolean {
  const name = ({ source }: GithubGrant) => source.repository.toLowerCase();
  return one.baseUrl === other.baseUrl && name(one) === name(other);
}

/**
 * A dry run asks nobody and writes nothing.
 * @param baseUrl as the command line gives it
 * @throws {HumanError} if there is no copy that it could read
 */
export async function requireCopy(
  files: RunFiles,
  source: GithubSource,
  baseUrl: string | undefined,
): Promise<void> {
  const file = path.join(files.workspace, MIRROR_FILE);
  const text = (await readStoryBytesOrThrow(file))?.toString('utf8');
  if (text === undefined) {
    throw new HumanError(
      say(
        'There is no copy of the issues of {0} yet, and a dry run does not ask GitHub. Make it first: {1}',
        source.repository,
        syncCommand(source, baseUrl),
      ),
    );
  }
  requireMirrorOf(file, text, source);
}

function syncCommand(
  { labels, milestone, repository }: GithubSource,
  baseUrl: string | undefined,
): string {
  const flags = [
    ['--github', repository],
    ...labels.map(label => ['--label', label]),
    ...(milestone === undefined ? [] : [['--milestone', milestone]]),
    ...(baseUrl === undefined ? [] : [['--github-url', baseUrl]]),
  ];
  return `ralph-fresh github sync ${flags.map(([flag, value = '']) => `${flag} ${shellWord(value)}`).join(' ')}`;
}

export function tellNotes(notes: readonly TrackerNote[]): void {
  for (const { detail } of notes) {
    const text = typeof detail === 'string' ? detail : englishOf(detail);
    tell(shorten(text, 2_000));
  }
}
