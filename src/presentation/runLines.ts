import { shorten } from '../base/text.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { tellsCost } from '../orchestrator/journal/tellsCost.ts';
import type { Door } from './door.ts';
import { type EventOf, line, MAX_LINE, own, type TranscriptLine } from './transcriptLine.ts';
import { dollars, span, type Translate } from './translate.ts';
import { waitingSentence } from './waitingWords.ts';

/** Two resets this near, in ms, are the same: agents learn of it one after the other. */
const SAME_RESET_MS = 90_000;

/** What controls the run and who pays. */
export function settings(
  event: EventOf<'run.started' | 'run.resumed'>,
  t: Translate,
  { door, mode }: { readonly door: Door; readonly mode: RunState['mode'] },
): readonly TranscriptLine[] {
  const { verify = [], budgetUsd, payer, branch } = event;
  return [
    own('plain', t('Agent: {0}', [event.agent, event.model].filter(Boolean).join(', '))),
    ...(payer === 'apiKey'
      ? [own('warning', t('Billing: the API key in the environment'))]
      : payer === 'login'
        ? [own('plain', t('Billing: the account that is logged in'))]
        : []),
    ...(budgetUsd === undefined
      ? []
      : [
          own(
            'plain',
            tellsCost(event.agent)
              ? t('Budget: {0}', dollars(budgetUsd, t))
              : t('Budget: {0}, not enforced', dollars(budgetUsd, t)),
          ),
        ]),
    own('plain', t('Max iterations: {0}', event.maxIterations)),
    own('plain', t('Stuck threshold: {0}', event.stuckThreshold)),
    ...checks(verify, t, { door, mode }),
    ...(event.isolated ? [own('plain', lanesWords(event.lanes ?? 1, t))] : []),
    ...(branch === undefined ? [] : [own('plain', t('Branch: {0}', branch))]),
  ];
}

function lanesWords(lanes: number, t: Translate): string {
  return lanes === 1
    ? t('Lanes: 1, the agent in a clone of its own')
    : t('Lanes: {0}, each agent in a clone of its own', lanes);
}

function checks(
  verify: readonly string[],
  t: Translate,
  { door, mode }: { readonly door: Door; readonly mode: RunState['mode'] },
): readonly TranscriptLine[] {
  if (verify.length > 0) {
    return [own('plain', t('Checks: {0}', shorten(verify.join(' · '), MAX_LINE)))];
  }
  // A run without stories gets its own warning next.
  return mode === undefined || mode === 'stories' ? [own('warning', noChecks(t, door))] : [];
}

function noChecks(t: Translate, door: Door): string {
  return door === 'terminal'
    ? t('Checks: none, so the agents\' claims are trusted. Set one with --verify "<command>".')
    : t("Checks: none, so the agents' claims are trusted. Set one in {0}.", 'ralphFresh.verify');
}

/** The first minute of a wait is reported, then ever rounder values: a line per minute for five hours is noise. */
export function limitWaiting(
  event: EventOf<'limit.waiting'>,
  t: Translate,
  state: RunState,
  door: Door,
): readonly TranscriptLine[] {
  const { until, known, message, remainingMs } = event;
  if (state.limits.get(event.iteration)?.until === until) {
    if ([...state.limits.keys()][0] !== event.iteration) {
      return [];
    }
    const minutes = Math.round(remainingMs / 60_000);
    const isRound = minutes % 30 === 0 || (minutes < 30 && minutes % 5 === 0) || minutes === 1;
    return isRound && minutes > 0
      ? [own('dim', t('Usage limit: continues in {0}', span(remainingMs, t)))]
      : [];
  }
  if (isSameLimit(event, state)) {
    // Another agent waits for it already, and its countdown is shown.
    return [];
  }
  const now = Date.parse(event.at);
  return [
    own('warning', waitingSentence({ kind: 'limit', until, known, message }, t, { now, door })),
    ...(message === '' ? [] : [line('dim', `  ${shorten(t.said(message), MAX_LINE)}`)]),
  ];
}

/** Whether an agent in another lane waits for the same reset. */
function isSameLimit(
  { iteration, until }: EventOf<'limit.waiting'>,
  { limits }: RunState,
): boolean {
  return [...limits].some(
    ([other, limit]) =>
      other !== iteration && Math.abs(Date.parse(limit.until) - Date.parse(until)) < SAME_RESET_MS,
  );
}

/** A stop that lets the agent finish first. */
export function willStop(
  by: EventOf<'stop.requested'>['by'],
  t: Translate,
  { door, isOne }: { readonly door: Door; readonly isOne: boolean },
): string {
  if (by === 'window') {
    return isOne
      ? t('The last window was closed. Will stop after this iteration')
      : t('The last window was closed. Will stop after these iterations');
  }
  if (door === 'window') {
    return isOne
      ? t('Stops after this iteration. Ctrl-C again stops now.')
      : t('Stops after these iterations. Ctrl-C again stops now.');
  }
  return isOne ? t('Will stop after this iteration') : t('Will stop after these iterations');
}

/** A problem that does not end the run. */
export function warningWords(
  { code, detail }: Pick<EventOf<'warning'>, 'code' | 'detail'>,
  t: Translate,
  door: Door,
): string {
  const words = shorten(t.said(detail), MAX_LINE);
  const sentences: Readonly<Record<string, string>> = {
    storyFileUnreadable: t(
      'The story file cannot be read; its last readable stories count: {0}',
      words,
    ),
    storiesGone: t(
      'Gone from the story file without being done, so still open: {0}. Put them back, or run again without them.',
      words,
    ),
    duplicatesUnknown: t(
      'Whether the new code repeats code that was there is not known: {0}',
      words,
    ),
    progressNotCompacted: t('The progress log cannot be kept short: {0}', words),
    codeNotSearched: t('The prompt does not tell where to look in the code: {0}', words),
    progressUnreadable: t('progress.txt cannot be read: {0}', words),
    gitUnreadable: t('git cannot be read: {0}', words),
    gitLockRemoved: t(
      'Removed the lock file {0}. A git process had left it that was killed, and no other one is at work here.',
      words,
    ),
    inboxUnreadable: t('Requests to this run cannot be read: {0}', words),
    hintsNotTold: t('Pending hints were not passed on: {0}', words),
    handoffNotWritten: t('The last handoff was not written: {0}', words),
    leftNotKept: t(
      'What the interrupted iteration left could not be recorded, so changes by others until it is judged count as its own: {0}',
      words,
    ),
    noChecks: t("There are no checks, so the agent's promise alone ends this run. Add --verify."),
    costUnknown: [
      t('The budget cannot be enforced, because the agent does not report its cost.'),
      door === 'terminal'
        ? t('Limit the run with {0} and {1} instead.', '--max-iterations', '--time-limit')
        : t('Limit the iterations and the time instead.'),
    ].join(' '),
    guardCouldNotRestore: t("The agent's changes could not be reverted: {0}", words),
    storyLeftAlone: words,
    idShared: words,
    storiesMisread: words,
    storyChoiceIgnored: words,
    precondition: words,
    checkChangedStories: words,
    storyNotPutBack: t('A refused story could not be set back to not done: {0}', words),
    claimsNotChecked: t(
      'Ticked in the last run and not accepted, so set back to not done: {0}',
      words,
    ),
    reviewFailed: t('The reviewer gave no answer; only the checks count: {0}', words),
    claimNotReviewed: t('The reviewer gave no verdict, so nothing is decided: {0}', words),
    approvalNotWritten: t('The approval could not be written into the story file: {0}', words),
    restorePointNotKept: t('No restore point was kept for this iteration: {0}', words),
    restorePointsNotRemoved: t('Restore points of old runs could not be removed: {0}', words),
    guardWithoutCopy: t(
      '{0} changed while the iteration was starting, so it is not guarded this time.',
      words,
    ),
    historyRewritten: t('The history of the branch was rewritten: {0}', words),
    answerNotRead: t('The answer of the interrupted agent cannot be read: {0}', words),
    costNotRead: t('The cost of the interrupted call cannot be read: {0}', words),
    stateFileNotWritten: t('The state file could not be set to inactive: {0}', words),
    stateDamaged: t('The state folder disappeared while an agent was working: {0}', words),
    errorsLogNotWritten: t('errors.log could not be written: {0}', words),
    workNotContinued: t(
      'The agent starts without the earlier work on its story, which conflicts with what has landed: {0}',
      words,
    ),
    fewerLanes: t(
      'The account rejects requests, so at most {0} agents work at once. More start as calls succeed.',
      words,
    ),
    placePrepared: words,
    beadsNotTold: words,
    discoveredWaits: words,
    githubLimit: words,
    githubNotRead: words,
    githubNotTold: words,
    githubTooMany: words,
    repositoryInside: t(
      'The work does not land: these folders are git repositories of their own, so git would not store their files. Remove their .git folders, or tell the next agent to with a hint: {0}',
      words,
    ),
    repositoryCommitted: t(
      'git stores only the names of these folders, which are git repositories of their own, so a clone would lack their files. Remove their .git folders, then run "git rm --cached FOLDER" and commit the files: {0}',
      words,
    ),
    stateInside: t(
      'The work does not land: it contains files of the folder in which Ralph keeps its own state. Tell the next agent with a hint to remove them from git: {0}',
      words,
    ),
    placeGone: t(
      'The place of the interrupted agent is gone, or another run has used it ({0}). Its story gets another agent. What had been committed there: {1}',
      words,
      'ralph-fresh places',
    ),
    tickNotWritten: t('The story has landed, but could not be ticked in its file: {0}', words),
    tickNotCommitted: t(
      'The story has landed, and is ticked in your folder, but not in the commit: {0}',
      words,
    ),
    commitsNotListed: t('The commits of the story could not be listed in its file: {0}', words),
    numbersMoved: t(
      'The list has changed, and its stories have no ids: their numbers mean others now. The run forgets what it knew by number, such as a skip; the file says which stories are done.',
    ),
    sameIds: t(
      'No further agent starts until this is put right; if it still is not when the last one has ended, the run ends: {0}',
      words,
    ),
    progressNotWritten: t('The new entries of progress.txt could not be written: {0}', words),
    conflictNotDescribed: t('The next agent is not told the details of the conflict: {0}', words),
    oldRunsNotCleared: t('Files of old runs could not be removed: {0}', words),
  };
  return (Object.hasOwn(sentences, code) ? sentences[code] : undefined) ?? `${code}: ${words}`;
}
