import { assertNever } from '../base/assertNever.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { GuardChange } from '../orchestrator/iteration/guard/guardChanges.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import {
  type EventOf,
  items,
  line,
  linesBefore,
  MAX_LINE,
  own,
  type TranscriptLine,
} from './transcriptLine.ts';
import { duration, type Translate } from './translate.ts';

/** Number of lines shown of a check's output, the last ones. */
const MAX_CHECK_LINES = 20;

/** How a claim is checked and reviewed. */
export function proofLines(
  event: EventOf<'gate.started' | 'check.started' | 'check.ended' | 'gate.ended' | 'review.ended'>,
  t: Translate,
): readonly TranscriptLine[] {
  switch (event.type) {
    case 'gate.started':
      return [
        own(
          'plain',
          event.storyId === undefined ? t('Checking the work…') : t('Checking {0}…', event.storyId),
        ),
      ];
    case 'check.started':
      return [line('tool', `● ${t('Check')}(${shorten(event.command, MAX_LINE)})`)];
    case 'check.ended':
      return checkEnded(event, t);
    case 'gate.ended':
      return [gateEnded(event, t)];
    case 'review.ended':
      return event.approved
        ? [own('success', t('{0} is approved by the reviewer', event.storyId))]
        : [
            own('error', t('The reviewer does not approve {0}:', event.storyId)),
            ...items('error', event.objections.map(t.said), t),
          ];
    default:
      return assertNever(event);
  }
}

/** What an agent changed without permission. */
export function guardFound(
  { changes, restored, keptAside }: EventOf<'guard.found'>,
  t: Translate,
): readonly TranscriptLine[] {
  return [
    own(
      'warning',
      restored
        ? t('The agent changed what it may not change; this was reverted:')
        : t('The agent changed what it may not change:'),
    ),
    ...items(
      'warning',
      changes.map(({ kind, storyId }) =>
        storyId === undefined ? changeWords(kind, t) : `${storyId}: ${changeWords(kind, t)}`,
      ),
      t,
    ),
    ...(keptAside === undefined
      ? []
      : [
          own('dim', t('Its version of the file is kept in {0}', keptAside)),
          own('dim', t('Copy what you want of it into the story file; the next agent sees it.')),
        ]),
  ];
}

/** A newer loop may report kinds that are unknown here. */
function changeWords(kind: string, t: Translate): string {
  const words: Readonly<Record<GuardChange['kind'], string>> = {
    storyRemoved: t('removed'),
    storyAdded: t('added'),
    titleChanged: t('title changed'),
    descriptionChanged: t('description changed'),
    criterionRemoved: t('criterion removed'),
    criterionAdded: t('criterion added'),
    criterionReworded: t('criterion reworded'),
    tickedOther: t('marked done'),
    untickedOther: t('marked not done'),
    orderOrPriority: t('moved in the order of work'),
    parked: t('put aside'),
    fileBroken: t('the story file can no longer be read'),
    fileGone: t('the story file was removed'),
    fileReplaced: t('the story file was replaced by something else'),
  };
  return Object.hasOwn(words, kind) ? words[kind as GuardChange['kind']] : kind;
}

/**
 * Work that an agent left on another branch than the run's. The end of the run says why it could not be brought back.
 */
export function branchLeft(
  { branch, broughtBack, commits, found, onNoBranch = [], reason }: EventOf<'branch.left'>,
  t: Translate,
  { isolated }: Pick<RunState, 'isolated'>,
): readonly TranscriptLine[] {
  const other = found === '' ? t('a detached HEAD') : found;
  const words = broughtBack
    ? broughtBackWords({ branch, found, other, isEmpty: commits.length === 0 }, t)
    : (reasonWords(reason, isolated === true, t) ?? leftWords({ branch, found, other }, t));
  const named = (list: typeof commits) =>
    items(
      'warning',
      list.map(({ hash, subject }) => `${hash.slice(0, 7)} ${subject}`),
      t,
    );
  const [newest] = onNoBranch;
  return [
    own(broughtBack || reason === 'notClaimed' ? 'warning' : 'error', words),
    ...named(commits),
    ...(newest === undefined
      ? []
      : [
          own(
            'warning',
            t(
              'The agent had deleted {0}, and these commits are on no branch now. Keep them with "git branch rescued {1}":',
              branch,
              newest.hash.slice(0, 10),
            ),
          ),
          ...named(onNoBranch),
        ]),
  ];
}

/** @param isEmpty nothing was committed there */
function broughtBackWords(
  {
    branch,
    found,
    isEmpty,
    other,
  }: {
    readonly branch: string;
    readonly found: string;
    readonly isEmpty: boolean;
    readonly other: string;
  },
  t: Translate,
): string {
  if (found === branch) {
    return t(
      'The agent had taken commits back from the branch {0}; they were brought back',
      branch,
    );
  }
  return isEmpty
    ? t(
        'The agent left the branch {0} for {1}, without commits there; the run went back',
        branch,
        other,
      )
    : t('The agent left the branch {0} for {1}; its work was brought back', branch, other);
}

function leftWords(
  {
    branch,
    found,
    other,
  }: { readonly branch: string; readonly found: string; readonly other: string },
  t: Translate,
): string {
  const wanted = branch || t('a detached HEAD');
  return found === branch
    ? t('Commits of the agent are not on the branch {0}', wanted)
    : t('The work is not on the branch {0}, but on {1}', wanted, other);
}

/** @param isPlace the agent had a clone of its own: the run continues, and its end does not mention it */
function reasonWords(
  reason: string | undefined,
  isPlace: boolean,
  t: Translate,
): string | undefined {
  switch (reason) {
    case 'repositoryGone':
      return isPlace
        ? t(
            'The place of the agent, or the git folder in it, was removed while it worked. Its story gets another agent',
          )
        : t('The git repository is gone');
    case 'repositoryOther':
      return isPlace
        ? t(
            'The git folder in the place of the agent was replaced while it worked. Its story gets another agent',
          )
        : t('The git repository is not the one that the run started in');
    case 'repositoryUnreadable':
      return t('git cannot read the repository');
    case 'rebasing':
      return t('The agent ended in the middle of a "git rebase"');
    default:
      return undefined;
  }
}

/** Commits of done stories that the rewritten history lacks. The end of the run says how to recover them. */
export function commitsLost(
  { branch, commits }: EventOf<'commits.lost'>,
  t: Translate,
): readonly TranscriptLine[] {
  const place = branch || t('a detached HEAD');
  if (commits.length === 0) {
    return [own('plain', t('No commit of a finished story is missing from {0} any more', place))];
  }
  return [
    own('error', t('Commits of stories that are done are no longer on {0}:', place)),
    ...items(
      'warning',
      commits.map(({ hash, storyId, subject }) => `${hash.slice(0, 7)} ${storyId}: ${subject}`),
      t,
    ),
  ];
}

/** How a check ended, and the end of its output if it failed. */
function checkEnded(event: EventOf<'check.ended'>, t: Translate): readonly TranscriptLine[] {
  return event.ok
    ? [line('success', `  └  ${t('passed')} · ${duration(event.durationMs, t)}`)]
    : checkFailed(event, t);
}

/** Why a check failed, and the end of its output. */
export function checkFailed(
  {
    timedOut,
    exitCode,
    durationMs,
    outputTail,
    problem,
  }: NonNullable<EventOf<'stack.checked'>['failed']>,
  t: Translate,
): readonly TranscriptLine[] {
  const why = timedOut
    ? t('not done within the time limit')
    : exitCode === undefined
      ? t('ended before it was finished')
      : t('failed (exit code {0})', exitCode);
  return [
    line('error', `  └  ${why} · ${duration(durationMs, t)}`),
    ...outputLines(problem ? t.said(problem) : outputTail, t),
  ];
}

/** The failure is usually at the end of an output. */
function outputLines(output: string, t: Translate): readonly TranscriptLine[] {
  const all = withoutControls(output).trimEnd().split('\n');
  const shown = all.slice(-MAX_CHECK_LINES);
  const more = all.length - shown.length;
  return [
    ...(more > 0 ? [line('dim', `     ${linesBefore(more, t)}`)] : []),
    ...shown.flatMap(text =>
      text === '' ? [] : [line('dim', `     ${cut(text.replaceAll('\t', '  '))}`)],
    ),
  ];
}

/** Indentation in an output has a meaning, so `shorten` is not suitable. */
function cut(text: string): string {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE - 1)}…` : text;
}

/** The combined result of all checks. */
function gateEnded({ green, storyId }: EventOf<'gate.ended'>, t: Translate): TranscriptLine {
  if (green) {
    return own(
      'success',
      storyId === undefined ? t('All checks passed') : t('{0} is verified', storyId),
    );
  }
  return own(
    'error',
    storyId === undefined ? t('Not all checks passed') : t('{0} is not verified', storyId),
  );
}
