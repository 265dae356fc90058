import { saidOf } from '../../base/messageOf.ts';
import { writeDerivedFile } from '../../base/plainFile.ts';
import { englishOf, type Words } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { readProgressLog } from '../context/progressLog.ts';
import type { GitRepository, WorkTreeStatus } from '../git/git.ts';
import type { RunState } from '../journal/runState.ts';
import { storyNotes, storyRecord } from '../journal/runState.ts';
import { nextStory } from '../stories/select.ts';
import type { StoryList } from '../stories/story.ts';

/** Size limit of the handoff file, in bytes, for any number of stories and iterations. */
export const HANDOFF_MAX_BYTES = 5 * 1024;

const RECENT_COMMITS = 5;
const RECENT_LEARNINGS = 5;
const REPORTED = 10;

/** Everything that a fresh agent learns about the run so far (Ralph-Fresh whitepaper, 7.1). */
export interface RalphFreshHandoff {
  readonly version: '1.0';
  readonly created_at: string;
  readonly iteration: number;
  readonly max_iterations: number;
  readonly original_prompt: string;
  readonly completion_promise: string;
  readonly completed: boolean;
  readonly completion_message?: string;
  readonly prd?: {
    readonly project: string;
    readonly branchName: string;
    readonly description: string;
    readonly storiesTotal: number;
    readonly storiesCompleted: number;
    readonly nextStoryId: string | null;
    readonly incompleteIds: string[];
  };
  readonly progress: {
    readonly patterns: string[];
    readonly recentLearnings: string[];
    readonly lastCompletedStory?: string;
  };
  readonly git: {
    readonly recentCommits: { readonly hash: string; readonly message: string }[];
    readonly branch: string;
    readonly hasUncommittedChanges: boolean;
  };
  readonly stuckDetection: {
    readonly lastPrdStatus: string[];
    readonly iterationsOnSameStory: number;
    readonly lastActionAttempted?: string;
  };
  /** Titles of work that agents of this run have reported: the next one need not report it again. */
  readonly alreadyReported?: string[];
  readonly lastError?: {
    readonly iteration: number;
    readonly message: string;
    readonly recoveryAttempt?: string;
  };
}

/** A new handoff, before any file is read. */
export function initHandoff(options: {
  readonly prompt: string;
  readonly maxIterations: number;
  readonly completionPromise: string;
}): RalphFreshHandoff {
  return {
    version: '1.0',
    created_at: new Date().toISOString(),
    iteration: 1,
    max_iterations: options.maxIterations,
    original_prompt: options.prompt,
    completion_promise: options.completionPromise,
    completed: false,
    progress: { patterns: [], recentLearnings: [] },
    git: { recentCommits: [], branch: '', hasUncommittedChanges: false },
    stuckDetection: { lastPrdStatus: [], iterationsOnSameStory: 0 },
  };
}

/**
 * Writes the handoff, shortened to {@link HANDOFF_MAX_BYTES} if necessary.
 * @param file absolute path
 * @returns its size in bytes
 */
export async function writeHandoff(file: string, handoff: RalphFreshHandoff): Promise<number> {
  const text = `${JSON.stringify(fitHandoff(handoff), null, 2)}\n`;
  await writeDerivedFile(file, text);
  return Buffer.byteLength(text);
}

/** The sources of the handoff. */
export interface HandoffSources {
  /** Absent in free-form mode. */
  readonly stories?: StoryList;
  /** Next to the story file; may not exist yet. */
  readonly progressFile: string;
  readonly git: GitRepository;
  /** A recent status of the work tree; queried again if it is not for `head`. */
  readonly workTree?: Promise<WorkTreeStatus>;
  /** Called with the status of the work tree. */
  readonly onWorkTree?: (status: WorkTreeStatus) => void;
  /** The current HEAD. */
  readonly head?: string;
  readonly state: RunState;
  /** The iteration that is about to start. */
  readonly iteration: number;
  readonly storyId?: string;
}

/**
 * Updates the handoff from the story file, the progress log, git and the run's journal. If a source cannot be read,
 * its previous content is kept (whitepaper 7.6).
 * @param onWarning called for a source that could not be read
 */
export async function refreshHandoffFromFiles(
  handoff: RalphFreshHandoff,
  sources: HandoffSources,
  onWarning: (code: 'gitUnreadable' | 'progressUnreadable', detail: Words) => void,
): Promise<RalphFreshHandoff> {
  const { stories, state, storyId } = sources;
  const { lastError, lastIteration } = storyNotes(state, storyId);
  const [progress, git] = await Promise.all([
    readProgress(sources.progressFile).catch((error: unknown) => {
      onWarning('progressUnreadable', saidOf(error));
      return undefined;
    }),
    readGit(sources).catch((error: unknown) => {
      onWarning('gitUnreadable', saidOf(error));
      return undefined;
    }),
  ]);
  const lastCompleted = state.lastCompletedStory;
  const reported = (state.discoveries ?? []).flatMap(({ title }) => title ?? []);
  return {
    ...handoff,
    iteration: sources.iteration,
    ...(stories && { prd: prdState(stories, sources.storyId) }),
    progress: progress ? { ...progress, lastCompletedStory: lastCompleted } : handoff.progress,
    git: git ?? handoff.git,
    stuckDetection: {
      lastPrdStatus: stories ? incompleteIds(stories) : [],
      iterationsOnSameStory:
        sources.storyId === undefined ? 0 : storyRecord(state, sources.storyId).stuckFor,
      lastActionAttempted: lastIteration?.outcome,
    },
    ...(reported.length > 0 && { alreadyReported: reported }),
    ...(lastError && {
      lastError: {
        iteration: lastError.iteration,
        message: englishOf(lastError.message),
        recoveryAttempt: lastError.recoveryAttempt,
      },
    }),
  };
}

/** Shortens a handoff until it fits. In each round, texts and lists get shorter; omissions are marked. Pure. */
export function fitHandoff(handoff: RalphFreshHandoff): RalphFreshHandoff {
  const fits = (value: object) =>
    Buffer.byteLength(JSON.stringify(value, null, 2)) < HANDOFF_MAX_BYTES;
  let scale = 1;
  let fitted = shortenHandoff(handoff, scale);
  while (!fits(fitted) && scale > 0.01) {
    scale *= 0.8;
    fitted = shortenHandoff(handoff, scale);
  }
  return fitted;
}

function shortenHandoff(handoff: RalphFreshHandoff, scale: number): RalphFreshHandoff {
  const max = (units: number) => Math.max(8, Math.floor(units * scale));
  const shortOf = (text: string | undefined, units: number) =>
    text === undefined ? undefined : shorten(text, max(units));
  const texts = (values: readonly string[], count: number, units: number) =>
    values.slice(-Math.max(1, Math.floor(count * scale))).map(value => shorten(value, max(units)));
  const ids = (values: readonly string[]) => {
    const kept = values.slice(0, Math.max(1, Math.floor(40 * scale)));
    const rest = values.length - kept.length;
    return [...kept.map(id => shorten(id, max(60))), ...(rest > 0 ? [`…and ${rest} more`] : [])];
  };
  const { alreadyReported, prd, progress, git, stuckDetection, lastError } = handoff;
  return {
    version: handoff.version,
    created_at: shorten(handoff.created_at, 40),
    iteration: handoff.iteration,
    max_iterations: handoff.max_iterations,
    original_prompt: shorten(handoff.original_prompt, max(1_200)),
    completion_promise: shorten(handoff.completion_promise, max(120)),
    completed: handoff.completed,
    completion_message: shortOf(handoff.completion_message, 300),
    prd: prd
      ? {
          project: shorten(prd.project, max(120)),
          branchName: shorten(prd.branchName, max(120)),
          description: shorten(prd.description, max(400)),
          storiesTotal: prd.storiesTotal,
          storiesCompleted: prd.storiesCompleted,
          nextStoryId: prd.nextStoryId === null ? null : shorten(prd.nextStoryId, max(60)),
          incompleteIds: ids(prd.incompleteIds),
        }
      : undefined,
    progress: {
      patterns: texts(progress.patterns, 12, 160),
      recentLearnings: texts(progress.recentLearnings, RECENT_LEARNINGS, 200),
      lastCompletedStory: shortOf(progress.lastCompletedStory, 60),
    },
    git: {
      recentCommits: git.recentCommits.slice(0, RECENT_COMMITS).map(({ hash, message }) => ({
        hash: shorten(hash, 40),
        message: shorten(message, max(100)),
      })),
      branch: shorten(git.branch, max(120)),
      hasUncommittedChanges: git.hasUncommittedChanges,
    },
    stuckDetection: {
      lastPrdStatus: ids(stuckDetection.lastPrdStatus),
      iterationsOnSameStory: stuckDetection.iterationsOnSameStory,
      lastActionAttempted: shortOf(stuckDetection.lastActionAttempted, 120),
    },
    alreadyReported: alreadyReported && texts(alreadyReported, REPORTED, 80),
    lastError: lastError
      ? {
          iteration: lastError.iteration,
          message: shorten(lastError.message, max(300)),
          recoveryAttempt: shortOf(lastError.recoveryAttempt, 200),
        }
      : undefined,
  };
}

function prdState(stories: StoryList, storyId: string | undefined): RalphFreshHandoff['prd'] {
  const next = nextStory(stories.stories);
  return {
    project: stories.project,
    branchName: stories.branchName,
    description: stories.description,
    storiesTotal: stories.stories.length,
    storiesCompleted: stories.stories.filter(story => story.done).length,
    nextStoryId: storyId ?? next.story?.id ?? null,
    incompleteIds: incompleteIds(stories),
  };
}

function incompleteIds(stories: StoryList): string[] {
  return stories.stories.filter(story => !story.done).map(story => story.id);
}

async function readProgress(
  file: string,
): Promise<{ patterns: string[]; recentLearnings: string[] }> {
  const log = await readProgressLog(file);
  return {
    patterns: [...log.patterns],
    recentLearnings: log.learnings.slice(-RECENT_LEARNINGS),
  };
}

async function readGit(sources: HandoffSources): Promise<RalphFreshHandoff['git']> {
  const { git } = sources;
  const known = await sources.workTree?.catch(() => undefined);
  const status = known !== undefined && known.head === sources.head ? known : await git.status();
  sources.onWorkTree?.(status);
  const { branch, hasUncommittedChanges, head } = status;
  const commits = head === undefined ? [] : await git.recentCommits(head, RECENT_COMMITS);
  return {
    recentCommits: commits.map(({ hash, subject }) => ({
      hash: hash.slice(0, 10),
      message: subject,
    })),
    branch,
    hasUncommittedChanges,
  };
}
