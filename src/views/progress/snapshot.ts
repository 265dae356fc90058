import { assertNever } from '../../orchestrator/assertNever.ts';
import type { RunEvent } from '../../orchestrator/run/events.ts';
import type { RunState } from '../../orchestrator/run/runState.ts';
import type { WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { shorten, shortenBlock } from '../../orchestrator/text.ts';
import type { Translate } from '../../presentation/sentences.ts';
import { type IterationReason, type IterationRow, iterationRows } from './iterationRows.ts';
import type {
  Glyph,
  ProgressSnapshot,
  ProgressStrings,
  ShownFact,
  ShownIteration,
  ShownNow,
  ShownRun,
  ShownStory,
} from './protocol.ts';

/** A run of a thousand iterations would be sent and compared whole with every line its agent says. */
const MAX_ITERATIONS = 200;
const MAX_COMMITS = 10;
const MAX_ID = 60;
const MAX_TITLE = 300;
const MAX_REASON = 400;
const MAX_ACTIVITY = 300;
const MAX_QUOTE = 2_000;

/** Puts a run into the words that the progress page shows. Pure. */
export function progressSnapshot(
  run: WatchedRun,
  events: readonly RunEvent[],
  { t, now }: { readonly t: Translate; readonly now: Date },
): ProgressSnapshot {
  const shown =
    run.runId === undefined || run.state.phase === 'idle' ? undefined : shownRun(run, events, t);
  return {
    strings: strings(t),
    sentAt: now.getTime(),
    announcement: shown ? announcement(shown, t) : '',
    ...(shown && { run: shown }),
  };
}

function shownRun({ state, alive }: WatchedRun, events: readonly RunEvent[], t: Translate) {
  const rows = iterationRows(events, { alive });
  const active = alive && state.phase !== 'ended';
  const newest = rows.slice(-MAX_ITERATIONS).reverse();
  const older = rows.length - newest.length;
  const { done, total } = state.stories;
  const shown: ShownRun = {
    ...standing(state, active, t),
    active,
    stopping: active && state.phase === 'stopping',
    ...(total > 0 && {
      stories: { done, total, words: t('{0} of {1} stories done', done, total) },
    }),
    ...(active && { now: shownNow(state, t) }),
    facts: facts(state, rows, active, t),
    iterations: newest.map(row => shownIteration(row, t)),
    ...(older > 0 && {
      olderIterations: t('{0} earlier iterations are not shown.', older),
    }),
  };
  return shown;
}

/** How the run stands: the state in words, what it means, and what to do next. */
function standing(
  state: RunState,
  active: boolean,
  t: Translate,
): Pick<ShownRun, 'glyph' | 'status' | 'sentence' | 'quote'> {
  if (active) {
    return state.phase === 'stopping'
      ? {
          glyph: 'running',
          status: t('Stopping'),
          sentence: t('What the agent has done so far is kept.'),
        }
      : { glyph: 'running', status: t('Running') };
  }
  const quote = shortenBlock(state.detail ?? '', MAX_QUOTE);
  const { iteration: iterations, stories } = state;
  const outcome = state.phase === 'ended' ? state.outcome : 'interrupted';
  switch (outcome) {
    case 'completed':
      return { glyph: 'done', status: t('Complete'), sentence: completed(state, t) };
    case 'needsHuman':
      return {
        glyph: 'needsYou',
        status: t('Needs you'),
        ...(quote !== '' && { quote }),
        sentence: t(
          'Answer in the story file or in progress.txt, then start a run: its agent reads them.',
        ),
      };
    case 'maxIterations':
      return {
        glyph: 'stopped',
        status: t('Iteration limit reached'),
        sentence:
          stories.total === 0
            ? t('Ended after {0} iterations. Start a run to go on from here.', iterations)
            : t(
                'Ended after {0} iterations with {1} of {2} stories done. Start a run to go on from here.',
                iterations,
                stories.done,
                stories.total,
              ),
      };
    case 'noReadyStory':
      return {
        glyph: 'blocked',
        status: t('No story is ready'),
        sentence: t(
          'Each story that is left has failed, is blocked, or waits for another: {0}.',
          shorten(quote, MAX_REASON),
        ),
      };
    case 'stopped':
      return {
        glyph: 'stopped',
        status: t('Stopped'),
        sentence: t('What the agent left is as it was. Start a run to go on from here.'),
      };
    case 'interrupted':
      return {
        glyph: 'interrupted',
        status: t('Interrupted'),
        sentence: t(
          'The loop was killed in iteration {0}. Start a run to go on from here.',
          iterations,
        ),
      };
    case 'error':
    case undefined:
      return {
        glyph: 'failed',
        status: t('Failed'),
        ...(quote !== '' && { quote }),
        sentence: t('The run could not go on. Mend the cause, then start a run.'),
      };
    default:
      return assertNever(outcome);
  }
}

function completed({ iteration, stories: { total } }: RunState, t: Translate): string {
  if (iteration === 0) {
    return t('All stories were done already; there was nothing to do.');
  }
  if (total === 0) {
    return iteration === 1
      ? t('The task is done, after 1 iteration.')
      : t('The task is done, after {0} iterations.', iteration);
  }
  return iteration === 1
    ? t('All stories are done, after 1 iteration.')
    : t('All stories are done, after {0} iterations.', iteration);
}

function shownNow({ current, iteration, maxIterations, phase }: RunState, t: Translate): ShownNow {
  if (!current) {
    return {
      words:
        phase === 'stopping'
          ? t('Saving the state…')
          : iteration === 0
            ? t('Preparing the first iteration…')
            : t('Preparing the next iteration…'),
    };
  }
  const story = shownStory(current.storyId, current.storyTitle);
  const activity = shorten(current.activity ?? '', MAX_ACTIVITY);
  return {
    ...(story && { story }),
    words: t('Iteration {0} of {1}', current.number, maxIterations),
    since: current.startedAt,
    ...(activity !== '' && { activity }),
  };
}

function facts(
  state: RunState,
  rows: readonly IterationRow[],
  active: boolean,
  t: Translate,
): readonly ShownFact[] {
  const { agent, model, apiKeySource, costUsd, startedAt } = state;
  const found: ShownFact[] = [];
  const add = (label: string, text: string | undefined) => {
    if (text !== undefined && text !== '') {
      found.push({ label, value: { text: shorten(text, MAX_TITLE) } });
    }
  };
  add(t('Agent'), agentName(agent, t));
  add(t('Model'), model);
  add(t('Billing'), billing(agent, apiKeySource, t));
  if (rows.some(row => row.costUsd !== undefined)) {
    add(active ? t('Cost so far') : t('Cost'), dollars(costUsd));
  }
  if (startedAt !== undefined) {
    found.push({ label: t('Started'), value: { at: startedAt } });
  }
  return found;
}

function agentName(agent: string | undefined, t: Translate): string | undefined {
  switch (agent) {
    case 'claude':
      return 'Claude Code';
    case 'demo':
      return t('Demo');
    default:
      return agent;
  }
}

/** Who pays, as far as it is known: without a key it may be a subscription or a cloud's account. */
function billing(
  agent: string | undefined,
  source: string | undefined,
  t: Translate,
): string | undefined {
  if (agent === 'demo') {
    return t('Nothing to pay');
  }
  if (source === undefined) {
    return undefined;
  }
  return source === 'none' ? t('No API key in use') : t('API key ({0})', source);
}

function shownIteration(row: IterationRow, t: Translate): ShownIteration {
  const story = shownStory(row.storyId, row.storyTitle);
  const reason = row.reason && reasonWords(row.reason, t);
  const more = row.commits.length - MAX_COMMITS;
  return {
    number: row.number,
    ...outcomeWords(row.outcome, t),
    ...(reason !== undefined && { reason }),
    ...(story && { story }),
    ...(row.outcome === 'running'
      ? { time: { since: row.startedAt } }
      : row.durationMs !== undefined && { time: { ms: row.durationMs } }),
    ...(row.costUsd !== undefined && { cost: dollars(row.costUsd) }),
    commits: row.commits.slice(0, MAX_COMMITS).map(({ hash, subject }) => ({
      hash,
      shortHash: hash.slice(0, 7),
      subject: shorten(subject, MAX_TITLE),
    })),
    ...(more > 0 && { moreCommits: t('and {0} more', more) }),
  };
}

function outcomeWords(
  outcome: IterationRow['outcome'],
  t: Translate,
): { readonly glyph: Glyph; readonly outcome: string } {
  switch (outcome) {
    case 'running':
      return { glyph: 'running', outcome: t('Running') };
    case 'storyDone':
      return { glyph: 'done', outcome: t('Story done') };
    case 'progress':
      return { glyph: 'progress', outcome: t('Progress') };
    case 'noProgress':
      return { glyph: 'noProgress', outcome: t('No progress') };
    case 'failed':
      return { glyph: 'failed', outcome: t('Failed') };
    case 'blocked':
      return { glyph: 'blocked', outcome: t('Blocked') };
    case 'needsHuman':
      return { glyph: 'needsYou', outcome: t('Needs you') };
    case 'stopped':
      return { glyph: 'stopped', outcome: t('Stopped') };
    case 'interrupted':
      return { glyph: 'interrupted', outcome: t('Interrupted') };
    default:
      return assertNever(outcome);
  }
}

function reasonWords(reason: IterationReason, t: Translate): string | undefined {
  switch (reason.kind) {
    case 'hardLimit':
      return t('The agent reached the time limit.');
    case 'idleLimit':
      return t('The agent was silent for too long.');
    case 'notStarted':
      return shorten(reason.message, MAX_REASON) || t('The agent could not be started.');
    case 'error':
      return (
        shorten(reason.message, MAX_REASON) ||
        (reason.exit === undefined
          ? t('The agent failed.')
          : t('The agent failed (exit code {0}).', reason.exit))
      );
    case 'blocked':
    case 'needsHuman':
      return shorten(reason.message, MAX_REASON) || undefined;
    case 'refusedPromise':
      return t('The agent said that all is done, but there are open stories.');
    default:
      return assertNever(reason);
  }
}

/** What a screen reader says: where the run stands now, and what has just come of the last iteration. */
function announcement(
  { active, stopping, status, sentence, now, iterations }: ShownRun,
  t: Translate,
): string {
  if (!active || stopping) {
    return sentence === undefined ? status : t('{0}. {1}', status, sentence);
  }
  const last = iterations.find(({ glyph }) => glyph !== 'running');
  const sentences = [
    ...(last ? [t('Iteration {0}: {1}.', last.number, last.outcome)] : []),
    ...(now
      ? [now.story ? t('{0}: {1}', now.words, shorten(spoken(now.story), 100)) : now.words]
      : []),
  ];
  return sentences.join(' ');
}

function spoken({ id, title }: ShownStory): string {
  return `${id} ${title}`;
}

function shownStory(id: string | undefined, title: string | undefined): ShownStory | undefined {
  return id === undefined
    ? undefined
    : { id: shorten(id, MAX_ID), title: shorten(title ?? '', MAX_TITLE) };
}

function dollars(usd: number): string {
  // Nothing that costs is shown as free.
  return usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`;
}

function strings(t: Translate): ProgressStrings {
  return {
    start: t('Start Fresh Run'),
    stop: t('Stop'),
    stopping: t('Stopping…'),
    showTerminal: t('Show Terminal'),
    now: t('Now'),
    run: t('This run'),
    iterations: t('Iterations'),
    noIterations: t('None yet.'),
    iterationColumn: t('Iteration'),
    outcomeColumn: t('Outcome'),
    storyColumn: t('Story'),
    timeColumn: t('Time'),
    costColumn: t('Cost'),
    commitsColumn: t('Commits'),
    openCommit: t('Open the changes of commit {0}: {1}'),
    emptyTitle: t('No run yet'),
    emptyText: t(
      'Ralph works through the stories in prd.json, with a fresh agent for each iteration. Its progress appears here.',
    ),
    seconds: t('{0} s'),
    minutes: t('{0} min {1} s'),
    hours: t('{0} h {1} min'),
  };
}
