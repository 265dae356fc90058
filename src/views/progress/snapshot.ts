import { assertNever } from '../../orchestrator/assertNever.ts';
import type { RunEvent } from '../../orchestrator/run/events.ts';
import type { CurrentIteration, RunState, Waiting } from '../../orchestrator/run/runState.ts';
import type { WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { shorten, shortenBlock } from '../../orchestrator/text.ts';
import {
  dollars,
  outcomeSentence,
  runEnd,
  type Translate,
  waitingSentence,
} from '../../presentation/sentences.ts';
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
    run.runId === undefined || run.state.phase === 'idle'
      ? undefined
      : shownRun(run, events, t, now);
  return {
    strings: strings(t),
    sentAt: now.getTime(),
    announcement: shown ? announcement(shown, t) : '',
    ...(shown && { run: shown }),
  };
}

function shownRun(
  { state, alive }: WatchedRun,
  events: readonly RunEvent[],
  t: Translate,
  now: Date,
) {
  const rows = iterationRows(events, { alive });
  const active = alive && state.phase !== 'ended';
  const newest = rows.slice(-MAX_ITERATIONS).reverse();
  const older = rows.length - newest.length;
  const { done, total } = state.stories;
  const shown: ShownRun = {
    ...standing(state, active, t, now),
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

type Standing = Pick<ShownRun, 'glyph' | 'status' | 'sentence' | 'quote'>;

/** How the run stands: the state in words, what it means, and what to do next. */
function standing(state: RunState, active: boolean, t: Translate, now: Date): Standing {
  if (active) {
    return state.phase === 'stopping'
      ? {
          glyph: 'running',
          status: t('Stopping'),
          sentence: t('What the agent has done so far is kept.'),
        }
      : ((state.waiting && waiting(state.waiting, t, now)) ??
          (state.pauseRequested
            ? {
                glyph: 'running',
                status: t('Running'),
                sentence: t('The run will pause after this iteration.'),
              }
            : { glyph: 'running', status: t('Running') }));
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
    case 'budget':
      return {
        glyph: 'stopped',
        status: t('Budget used up'),
        sentence: outcomeSentence(runEnd(state, outcome), t, 'window').text,
      };
    case 'stuck':
      return {
        glyph: 'noProgress',
        status: t('Stuck'),
        sentence: outcomeSentence(
          { ...runEnd(state, outcome), detail: shorten(quote, MAX_ID) },
          t,
          'window',
        ).text,
      };
    case 'maxIterations':
      return {
        glyph: 'stopped',
        status: t('Iteration limit reached'),
        sentence:
          stories.total === 0
            ? t(
                'Ended after {0} iterations. Raise ralphFresh.maxIterations and start again to go on.',
                iterations,
              )
            : t(
                'Ended after {0} iterations with {1} of {2} stories done. Raise ralphFresh.maxIterations and start again to go on.',
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
          'Each story that is left has failed, is blocked or skipped, or waits for another: {0}.',
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

/** Why a living run does not go on. What the agent asks is a quote; the rest is ours. */
function waiting(waits: Waiting, t: Translate, now: Date): Standing {
  const sentence = waitingSentence(waits, t, { now: now.getTime(), door: 'window' });
  if (waits.kind === 'limit') {
    return { glyph: 'stopped', status: t('Waiting for the usage limit'), sentence };
  }
  switch (waits.reason) {
    case 'person':
      return {
        glyph: 'stopped',
        status: t('Paused'),
        sentence: t('The next iteration starts when you let the run go on.'),
      };
    case 'question': {
      const quote = shortenBlock(waits.detail ?? '', MAX_QUOTE);
      return {
        glyph: 'needsYou',
        status: t('Needs you'),
        ...(quote !== '' && { quote }),
        sentence: t('The run waits for your answer.'),
      };
    }
    case 'stuck':
      return { glyph: 'needsYou', status: t('Stuck'), sentence };
    default:
      return assertNever(waits.reason);
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

function shownNow(state: RunState, t: Translate): ShownNow {
  const { current, iteration, maxIterations, phase } = state;
  if (!current) {
    return {
      words:
        phase === 'stopping'
          ? t('Saving the state…')
          : state.waiting
            ? t('Waiting before the next iteration')
            : iteration === 0
              ? t('Preparing the first iteration…')
              : t('Preparing the next iteration…'),
    };
  }
  const story = shownStory(current.storyId, current.storyTitle);
  const activity = shorten(current.activity ?? '', MAX_ACTIVITY);
  return {
    ...(story && { story }),
    words: nowWords(current, maxIterations, t),
    since: current.startedAt,
    ...(activity !== '' && { activity }),
  };
}

function nowWords(current: CurrentIteration, maxIterations: number, t: Translate): string {
  switch (current.step) {
    case 'gate':
      return t('Iteration {0} of {1}, checking the work', current.number, maxIterations);
    case 'review':
      return t('Iteration {0} of {1}, reviewing the work', current.number, maxIterations);
    default:
      return t('Iteration {0} of {1}', current.number, maxIterations);
  }
}

function facts(
  state: RunState,
  rows: readonly IterationRow[],
  active: boolean,
  t: Translate,
): readonly ShownFact[] {
  const { agent, model, costUsd, startedAt, budgetUsd, verify } = state;
  const found: ShownFact[] = [];
  const add = (label: string, text: string | undefined) => {
    if (text !== undefined && text !== '') {
      found.push({ label, value: { text: shorten(text, MAX_TITLE) } });
    }
  };
  add(t('Agent'), agentName(agent, t));
  add(t('Model'), model);
  add(t('Billing'), billing(state, t));
  if (costUsd > 0 || rows.some(row => row.costUsd !== undefined)) {
    add(
      active ? t('Cost so far') : t('Cost'),
      budgetUsd === undefined
        ? dollars(costUsd)
        : t('{0} of {1}', dollars(costUsd), dollars(budgetUsd)),
    );
  } else if (budgetUsd !== undefined) {
    add(t('Budget'), dollars(budgetUsd));
  }
  add(t('Checks'), verify.join(' · '));
  if (startedAt !== undefined) {
    found.push({ label: t('Started'), value: { at: startedAt } });
  }
  return found;
}

function agentName(agent: string | undefined, t: Translate): string | undefined {
  switch (agent) {
    case 'claude':
      return 'Claude Code';
    case 'sdk':
      return 'Claude Agent SDK';
    case 'demo':
      return t('Demo');
    case 'command':
      return t('Command');
    default:
      return agent;
  }
}

/** Who pays, as far as it is known: without a key it may be a subscription or a cloud's account. */
function billing({ agent, apiKeySource, payer }: RunState, t: Translate): string | undefined {
  if (agent === 'demo') {
    return t('Nothing to pay');
  }
  // The agent's own word is worth more than what its environment lets one expect.
  if (apiKeySource !== undefined) {
    return apiKeySource === 'none' ? t('No API key in use') : t('API key ({0})', apiKeySource);
  }
  switch (payer) {
    case 'apiKey':
      return t('API key in the environment');
    case 'login':
      return t('The account that is logged in');
    case undefined:
      return undefined;
    default:
      return assertNever(payer);
  }
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
    case 'rejected':
      return { glyph: 'failed', outcome: t('Claim refused') };
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
    case 'skipped':
      return { glyph: 'stopped', outcome: t('Skipped') };
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
    case 'failedCheck':
      return failedCheckWords(reason, t);
    case 'objections':
      return reason.objections.length === 0
        ? t('The reviewer did not approve it.')
        : t('The reviewer: {0}', shorten(reason.objections.join(' '), MAX_REASON));
    case 'guard':
      return reason.restored
        ? t('The agent changed stories that it was not given; that was put back.')
        : t('The agent changed stories that it was not given.');
    default:
      return assertNever(reason);
  }
}

function failedCheckWords(
  { command, exitCode, timedOut }: Extract<IterationReason, { kind: 'failedCheck' }>,
  t: Translate,
): string {
  const check = shorten(command, MAX_REASON);
  if (timedOut) {
    return t('The check {0} was not done within its time limit.', check);
  }
  return exitCode === undefined
    ? t('The check {0} failed.', check)
    : t('The check {0} failed (exit code {1}).', check, exitCode);
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
