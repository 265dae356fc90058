import type { CurrentIteration, KeptWork } from './currentIteration.ts';
import { DISCOVERY_STATES, type Discovery } from './discoveries.ts';
import {
  DUPLICATE_KINDS,
  HELD_REASONS,
  ITERATION_OUTCOMES,
  PAUSE_REASONS,
  RUN_MODES,
  RUN_OUTCOMES,
  STOP_MODES,
} from './eventCodes.ts';
import type { RecordedCommit, RunState } from './runState.ts';
import type { CallError, ConflictWork, FailedCheck, Question, StoryNotes } from './storyNotes.ts';
import type { StoryRecord } from './storyRecord.ts';
import type { TokenCounts } from './tokenCounts.ts';
import { MAX_DEPTH } from './words.ts';

/** `T` with lists of pairs for its maps. */
type WithLists<T> = {
  readonly [K in keyof T]: T[K] extends ReadonlyMap<infer Key, infer Value>
    ? readonly (readonly [Key, Value])[]
    : T[K];
};

type StoredIteration = WithLists<CurrentIteration>;

/** The JSON form of a run's state: maps are lists of pairs. */
export interface StoredRunState extends WithLists<Omit<RunState, 'running' | 'cutOff'>> {
  readonly running: readonly StoredIteration[];
  readonly cutOff: readonly StoredIteration[];
}

export function toStored(state: RunState): StoredRunState {
  const iteration = (of: CurrentIteration) => ({ ...of, handled: [...of.handled] });
  return {
    ...state,
    running: state.running.map(iteration),
    cutOff: state.cutOff.map(iteration),
    limits: [...state.limits],
    laneStories: [...state.laneStories],
    storyNotes: [...state.storyNotes],
    storyRecords: [...state.storyRecords],
  };
}

export function fromStored(stored: StoredRunState): RunState {
  const iteration = ({ handled, ...of }: StoredIteration) => ({ ...of, handled: new Map(handled) });
  return {
    ...stored,
    running: stored.running.map(iteration),
    cutOff: stored.cutOff.map(iteration),
    limits: new Map(stored.limits),
    laneStories: new Map(stored.laneStories),
    storyNotes: new Map(stored.storyNotes),
    storyRecords: new Map(stored.storyRecords),
  };
}

/**
 * Whether a file contains the state of a run. By hand: to create the schemas of zod takes longer than everything else
 * that a short command does.
 */
export function isStoredRunState(value: unknown): value is StoredRunState {
  return isState(value);
}

type Check = (value: unknown) => boolean;
/** One check for each field of the type, so that the compiler reports a forgotten one; `?` follows an optional one. */
type Checks<T> = {
  readonly [K in keyof T & string as undefined extends T[K] ? `${K}?` : K]-?: Check;
};

const text: Check = value => typeof value === 'string';
const amount: Check = value => typeof value === 'number';
const whole: Check = Number.isSafeInteger;
const count: Check = value => whole(value) && (value as number) >= 0;
const flag: Check = value => typeof value === 'boolean';
const yes: Check = value => value === true;
const anyFields: Check = value =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function either(...values: readonly unknown[]): Check {
  return value => values.includes(value);
}

function list(each: Check): Check {
  return value => Array.isArray(value) && value.every(item => each(item));
}

function pairs(key: Check, of: Check): Check {
  return list(pair => Array.isArray(pair) && pair.length === 2 && key(pair[0]) && of(pair[1]));
}

function fields(checks: Readonly<Record<string, Check>>): Check {
  const byName = new Map(
    Object.entries(checks).map(([name, check]) => [name.replace('?', ''), check]),
  );
  const required = Object.keys(checks).filter(name => !name.endsWith('?'));
  return value => {
    if (!anyFields(value)) {
      return false;
    }
    const of = value as Readonly<Record<string, unknown>>;
    for (const name in of) {
      if (byName.get(name)?.(of[name]) === false) {
        return false;
      }
    }
    for (const name of required) {
      if (of[name] === undefined) {
        return false;
      }
    }
    return true;
  };
}

function words(value: unknown, depth = MAX_DEPTH): boolean {
  const isArgument: Check = of => amount(of) || flag(of) || words(of, depth - 1);
  return text(value) || (depth > 0 && fields({ key: text, args: list(isArgument) })(value));
}

const texts = list(text);
const counts = list(count);
const outcome = either(...ITERATION_OUTCOMES);
const usage = fields({
  ...{ input: amount, output: amount, cacheRead: amount, cacheWrite: amount },
} satisfies Checks<TokenCounts>);
const storyCount = fields({ done: count, total: count });
const keptFields = {
  ...{ iteration: count, base: text, head: text },
  'uncommitted?': text,
} satisfies Checks<KeptWork>;
const kept = fields(keptFields);
const conflict = fields({
  ...keptFields,
  ...{ onto: text, files: texts },
} satisfies Checks<ConflictWork>);
const definition = { file: text, line: count, name: text };

const current = fields({
  number: count,
  'storyId?': text,
  'storyTitle?': text,
  'lane?': count,
  'kept?': kept,
  'queued?': yes,
  'settled?': yes,
  'candidate?': fields({ commit: text, onto: text }),
  startedAt: text,
  'startCommit?': text,
  'interrupted?': yes,
  'endCommit?': text,
  'branch?': text,
  'storyLink?': text,
  'leftElsewhere?': texts,
  'agentPid?': count,
  'agentStartId?': text,
  'hasWorked?': yes,
  'step?': either('agent', 'queue', 'gate', 'review'),
  costUsd: amount,
  'costEstimated?': yes,
  'usage?': usage,
  handled: pairs(text, flag),
  'activity?': text,
  commits: count,
} satisfies Checks<CurrentIteration>);

const record = fields({
  'doneBy?': either('agent', 'hand', 'outside'),
  'verified?': yes,
  'approved?': yes,
  'refused?': yes,
  'landed?': yes,
  'tickMissing?': yes,
  'title?': text,
  stuckFor: count,
  'later?': fields({ since: count, stuckFor: count }),
  failures: count,
  'blocked?': text,
  'skipped?': either('person', 'stuck'),
  'reset?': yes,
  'was?': fields({
    entry: text,
    edits: list(fields({ offset: count, length: count, content: text })),
  }),
  'paused?': yes,
  costUsd: amount,
  iterations: count,
} satisfies Checks<StoryRecord>);

const question = { iteration: count, message: text };
const change = fields({
  kind: text,
  ...{ 'storyId?': text, 'before?': text, 'after?': text, 'text?': text, 'problem?': words },
  ...{ 'by?': text, 'target?': text },
});
const notes = fields({
  'lastIteration?': fields({ number: count, outcome }),
  'failedCheck?': fields({
    ...{ iteration: count, command: text, timedOut: flag, output: text },
    ...{ 'exitCode?': whole, 'problem?': words },
  } satisfies Checks<FailedCheck>),
  'review?': fields({ iteration: count, objections: list(words) }),
  'guard?': fields({ iteration: count, changes: list(change), restored: flag }),
  'question?': fields({ ...question, 'storyId?': text } satisfies Checks<Question>),
  'refusedPromise?': fields(question),
  'lastError?': fields({
    ...{ iteration: count, kind: text, message: words, 'recoveryAttempt?': text },
  } satisfies Checks<CallError>),
  'kept?': kept,
  'conflict?': conflict,
  'settling?': conflict,
} satisfies Checks<StoryNotes>);

const plan = fields({ kind: either('plan') });
const tasks = fields({ kind: either('tasks'), tasks: texts });
const isState = fields({
  'runId?': text,
  phase: either('idle', 'running', 'stopping', 'ended'),
  'agent?': text,
  'model?': text,
  'mode?': either(...RUN_MODES),
  task: text,
  'storyFile?': text,
  'planDir?': text,
  'branch?': text,
  'workBranch?': text,
  'pid?': whole,
  'startId?': text,
  'startedAt?': text,
  'endedAt?': text,
  iteration: count,
  maxIterations: count,
  lanes: count,
  'lanesChosen?': count,
  laneStories: pairs(count, text),
  'isolated?': yes,
  'pausedLanes?': counts,
  'held?': fields({ reason: either(...HELD_REASONS), files: texts, ref: text }),
  stuckThreshold: count,
  'budgetUsd?': amount,
  'payer?': either('apiKey', 'login'),
  verify: texts,
  'reviewer?': yes,
  'settings?': anyFields,
  stories: storyCount,
  'onlyStories?': texts,
  'onLastWindow?': either('continue', 'stopAfterIteration'),
  'stopMode?': either(...STOP_MODES),
  'pause?': fields({
    ...{ kind: either('pause'), reason: either(...PAUSE_REASONS), 'storyId?': text },
    ...{ 'detail?': text, 'stories?': texts, 'settling?': texts, 'lanes?': counts },
  }),
  limits: pairs(count, fields({ kind: either('limit'), until: text, known: flag, message: words })),
  pauseRequested: flag,
  hints: list(fields({ text, 'storyId?': text, 'id?': text })),
  answers: list(fields({ question: text, 'answer?': text, 'storyId?': text })),
  storyNotes: pairs(text, notes),
  'uncommittedBefore?': texts,
  'untrackedBefore?': texts,
  'duplicates?': fields({
    iteration: count,
    found: list(
      fields({ kind: either(...DUPLICATE_KINDS), ...definition, other: fields(definition) }),
    ),
  }),
  'branchLeft?': fields({ iteration: count, found: text, broughtBack: flag }),
  'lostCommits?': list(fields({ hash: text, subject: text, storyId: text })),
  'prepare?': value => plan(value) || tasks(value),
  'planner?': fields({ agentPid: count, 'agentStartId?': text }),
  cutOff: list(current),
  running: list(current),
  'apiKeySource?': text,
  costUsd: amount,
  'costEstimated?': yes,
  'costUnknown?': yes,
  usage,
  commits: list(
    fields({
      ...{ hash: text, subject: text, at: text, iteration: count },
      ...{ 'storyId?': text, 'landed?': yes },
    } satisfies Checks<RecordedCommit>),
  ),
  storyRecords: pairs(text, record),
  'discoveries?': list(
    fields({
      ...{ id: text, 'title?': text, 'why?': text, 'from?': text, 'iteration?': count },
      ...{ 'state?': either(...DISCOVERY_STATES), 'storyId?': text, 'storyFile?': text },
    } satisfies Checks<Discovery>),
  ),
  'lastIteration?': fields({ number: count, outcome, 'storyId?': text }),
  'lastCompletedStory?': text,
  'rolledBack?': fields({ iteration: count, 'of?': text, commit: text }),
  'open?': texts,
  'circle?': texts,
  'putAside?': count,
  'aside?': list(fields({ id: text, on: text, 'status?': text })),
  'uncommitted?': fields({
    ...{ storyIds: texts, files: texts, 'more?': count, 'lock?': text, 'head?': text },
  }),
  'outcome?': either(...RUN_OUTCOMES),
  'exitCode?': whole,
  'detail?': words,
  lastSeq: count,
} satisfies Checks<RunState>);
