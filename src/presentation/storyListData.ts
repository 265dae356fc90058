import { englishOf } from '../base/say.ts';
import {
  discoveriesOf,
  type KnownDiscovery,
  waitingDiscoveries,
} from '../orchestrator/journal/discoveries.ts';
import type { SeenRun } from '../orchestrator/journal/runStanding.ts';
import { INITIAL_RUN_STATE, type RunState, storyNotes } from '../orchestrator/journal/runState.ts';
import {
  type AsideStory,
  asideStories,
  type WaitsAside,
  waitsForAside,
} from '../orchestrator/stories/asideReason.ts';
import { choiceOf } from '../orchestrator/stories/formats/callChoice.ts';
import { idsWithReports } from '../orchestrator/stories/reportNote.ts';
import {
  doneIds,
  type NextStory,
  type NextStoryOptions,
  nextStory,
  openDependencies,
} from '../orchestrator/stories/select.ts';
import type {
  CallChoice,
  Story,
  StoryFile,
  StoryFormatName,
  StoryList,
} from '../orchestrator/stories/story.ts';
import { openCircle } from '../orchestrator/stories/storyProblems.ts';
import { isLeft, isUnjudged, storyStatus } from './storyState.ts';

/** The output of `stories --json`. */
export interface StoryListData {
  /** The path of the story file, as given. */
  readonly source: string;
  readonly format: StoryFormatName;
  /** Empty if the file is not usable; `problems` says why. */
  readonly stories: readonly StoryData[];
  readonly problems: readonly ProblemData[];
  /** How many further problems the file has. */
  readonly moreProblems: number;
  /** Work that agents found outside of their stories, and that waits for a person. */
  readonly discovered: readonly DiscoveryData[];
}

/** It is no story until it is accepted. */
export interface DiscoveryData {
  readonly id: string;
  readonly title: string;
  readonly why: string | null;
  readonly from: string | null;
}

/** A problem with the file. */
export interface ProblemData {
  readonly message: string;
  /** If the source is a folder: the file, from there. */
  readonly file?: string;
  readonly line: number;
  /** Stable, the same as in the editor's list of problems. */
  readonly code?: string;
  /** `info` is a hint: the loop follows the file anyway. */
  readonly severity?: 'error' | 'warning' | 'info';
}

export interface StoryData {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
  /**
   * From the file: `done`; `ready`; `waiting` for the stories in `blockedBy`; `parked`, which the file has put aside;
   * `later`, whose turn comes after the tasks of the tag `afterTag`.
   * The state of a run can lead to other values.
   */
  readonly state: string;
  /** Lower runs first; `null` runs after all numbered ones. */
  readonly priority: number | null;
  /** Declared dependencies that are not done, or that the file does not contain. */
  readonly blockedBy: readonly string[];
  /** With `later`. */
  readonly afterTag?: string;
  readonly epic: string | null;
  /** The story during which an agent found this work. */
  readonly discoveredFrom: string | null;
  /** What the story chooses for its agent; `null` if it leaves that to the settings. */
  readonly model: string | null;
  readonly effort: string | null;
  readonly maxTurns: number | null;
  /** The agent's question for the person, until somebody answers it; the state is `blocked` meanwhile. */
  readonly question: string | null;
}

/** Facts about stories from outside their file. */
export interface KnownOfStories {
  /** The newest run. */
  readonly run?: SeenRun;
  /** Of all runs, oldest first. */
  readonly states?: readonly RunState[];
  /** Work that agents of all runs found, if `states` are not those of all runs. */
  readonly discoveries?: readonly KnownDiscovery[];
  /** Problems of the file, instead of those that the reader found. */
  readonly problems?: readonly ProblemData[];
  /** How many of them are left out. */
  readonly moreProblems?: number;
}

/** The output of `next --json`: the story to run next, or why there is none. */
export type NextData =
  /** With what the story chooses for its agent. */
  | ({ readonly id: string } & CallChoice)
  | ({
      readonly id: null;
      readonly reason:
        | 'empty'
        | 'allDone'
        | 'unjudged'
        | 'waiting'
        | 'working'
        | 'skipped'
        | 'invalid';
      /** Ids of stories whose agents' claims the next run judges, if it has nothing else to do. */
      readonly unjudged?: readonly string[];
      /** Ids of stories that wait for each other, with the first one repeated at the end. */
      readonly circle?: readonly string[];
      /** Ids of the stories that agents work on, if no other one is ready. */
      readonly working?: readonly string[];
      /** With `allDone` and `waiting`: the open stories that the file has put aside, with its word for that. */
      readonly aside?: readonly AsideStory[];
      /** With `waiting`: the open stories that wait for one of them. */
      readonly waitsForAside?: readonly WaitsAside[];
    } & LeftStories);

/** With `skipped`: ids of those that a person settles or has paused, and that only have to land. */
interface LeftStories {
  readonly settling?: readonly string[];
  readonly queued?: readonly string[];
  readonly paused?: readonly string[];
}

const NO_RUN: SeenRun = { state: INITIAL_RUN_STATE, alive: false };

/** A story file as data for other programs. */
export function storyListData(file: StoryFile, known: KnownOfStories = {}): StoryListData {
  const {
    moreProblems = 0,
    problems,
    run = NO_RUN,
    states = [],
    discoveries = discoveriesOf(states),
  } = known;
  const stories = file.kind === 'stories' ? file.stories : [];
  const done = doneIds(stories);
  return {
    source: file.path,
    format: file.format,
    stories: stories.map(story => {
      const blockedBy = openDependencies(story, done);
      const state = stateByRuns(story, run, states) ?? stateByFile(story, blockedBy);
      const { question } = storyNotes(run.state, story.id);
      return {
        id: story.id,
        title: story.title,
        done: story.done,
        state,
        priority: story.priority ?? null,
        blockedBy,
        ...(state === 'later' && { afterTag: story.afterTag }),
        epic: story.epic ?? null,
        discoveredFrom: story.discoveredFrom ?? null,
        model: story.model ?? null,
        effort: story.effort ?? null,
        maxTurns: story.maxTurns ?? null,
        question: state === 'blocked' ? (question?.message ?? null) : null,
      };
    }),
    problems:
      problems ?? file.problems.map(({ message, line }) => ({ message: englishOf(message), line })),
    moreProblems,
    discovered: waitingDiscoveries(discoveries, idsWithReports(stories)).map(
      ({ from, id, title, why }) => ({ id, title, why: why ?? null, from: from ?? null }),
    ),
  };
}

/** One word, because programs read it; `undefined` if the runs know no more than the file. */
function stateByRuns(story: Story, run: SeenRun, states: readonly RunState[]): string | undefined {
  const status = storyStatus(story, run, states);
  switch (status?.kind) {
    case 'needsYou':
      return 'blocked';
    case 'queued':
      return status.isActive ? 'running' : 'queued';
    case 'landing':
      return 'running';
    case 'returned':
      return 'failed';
    case 'done':
    case 'doneByHand':
    case 'stuck':
      return undefined;
    default:
      return status?.kind;
  }
}

function stateByFile({ afterTag, done, parked }: Story, blockedBy: readonly string[]): string {
  if (done) {
    return 'done';
  }
  if (parked === true) {
    return afterTag === undefined ? 'parked' : 'later';
  }
  return blockedBy.length > 0 ? 'waiting' : 'ready';
}

/** The next story as data for other programs, see {@link nextFound}. */
export function nextData(...args: Parameters<typeof nextFound>): NextData {
  return nextFound(...args).data;
}

/**
 * The next story, also as data for other programs: its id alone does not say which one it is if several have it.
 * @param turns stories to pass over or to put last, as in `nextStory`
 * @param working ids of the stories that agents in lanes work on: another one is next
 * @param run the newest one on this file
 */
export function nextFound(
  file: StoryFile,
  turns: NextStoryOptions = {},
  working: readonly string[] = [],
  run: SeenRun = NO_RUN,
): { readonly data: NextData; readonly story?: Story } {
  if (file.kind === 'invalid') {
    return { data: { id: null, reason: 'invalid' } };
  }
  const left = leftStories(file, run);
  const skip = new Set([...(turns.skip ?? []), ...working, ...Object.values(left).flat()]);
  const next = nextStory(file.stories, { ...turns, skip });
  return next.story === undefined
    ? { data: noneNext(file, next.reason, { left, only: turns.only, run, working }) }
    : { data: { id: next.story.id, ...choiceOf(next.story) }, story: next.story };
}

function noneNext(
  file: StoryList,
  reason: NonNullable<NextStory['reason']>,
  {
    left,
    only,
    run,
    working,
  }: {
    readonly left: LeftStories;
    readonly only: NextStoryOptions['only'];
    readonly run: SeenRun;
    readonly working: readonly string[];
  },
): NextData {
  const atWork = file.stories.flatMap(({ id }) => (working.includes(id) ? [id] : []));
  if (reason !== 'allDone' && atWork.length > 0) {
    return { id: null, reason: 'working', working: [...new Set(atWork)] };
  }
  if (reason === 'skipped') {
    return { id: null, reason, ...left };
  }
  if (reason === 'empty') {
    return { id: null, reason };
  }
  const { stories } = file;
  const unjudged = stories.filter(({ done, id }) => done && isUnjudged(id, run));
  if (reason === 'allDone' && unjudged.length > 0) {
    return { id: null, reason: 'unjudged', unjudged: unjudged.map(({ id }) => id) };
  }
  const aside = asideStories(file);
  const isMeant = ({ id }: { readonly id: string }) => only?.has(id) !== false;
  const waits = waitsForAside(stories, only);
  return {
    id: null,
    reason,
    circle: reason === 'waiting' ? openCircle(stories.filter(isMeant)) : undefined,
    aside: aside.length > 0 ? aside : undefined,
    waitsForAside: waits.length > 0 ? waits : undefined,
  };
}

function leftStories({ stories }: StoryList, run: SeenRun): LeftStories {
  const left: Partial<Record<keyof LeftStories, string[]>> = {};
  for (const story of stories) {
    const status = storyStatus(story, run, [run.state]);
    if (isLeft(status)) {
      left[status.kind] = [...(left[status.kind] ?? []), story.id];
    }
  }
  return left;
}
