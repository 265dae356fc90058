import { shorten } from '../base/text.ts';
import type { ReturnReason } from '../orchestrator/journal/eventCodes.ts';
import { type RunState, runningIteration, storyRecord } from '../orchestrator/journal/runState.ts';
import type { Door } from './door.ts';
import { bringInWords, heldWords } from './heldWords.ts';
import { checkFailed } from './proofLines.ts';
import { type EventOf, items, line, MAX_LINE, own, type TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';

const SHORT_HASH = 7;

/** What an agent left in its place; its commits are shown when they land. */
export function workKept(
  { commits, head, lands, problem, storyId = '', uncommitted, unfinished }: EventOf<'work.kept'>,
  t: Translate,
): readonly TranscriptLine[] {
  return [
    ...(unfinished === undefined
      ? []
      : [
          own(
            'error',
            t(
              'The agent ended in the middle of "git {0}", so nothing of its work on {1} lands. The next agent starts with its commits. This shows all that is kept: {2}',
              unfinished,
              storyId,
              'ralph-fresh places',
            ),
          ),
        ]),
    ...(uncommitted === undefined || lands
      ? []
      : [
          own(
            'warning',
            t(
              '{0} left uncommitted changes, which are kept: git show {1}',
              storyId,
              uncommitted.slice(0, SHORT_HASH),
            ),
          ),
        ]),
    ...(problem === undefined
      ? []
      : [
          own('error', t('Not all work on {0} could be kept: {1}', storyId, t.said(problem))),
          own(
            'dim',
            t(
              'This shows what is kept, and what is still in its place: {0}. Copy from there what is missing.',
              'ralph-fresh places',
            ),
          ),
        ]),
    // What could not be read may have some.
    ...(commits === 0 && (head !== undefined || problem === undefined)
      ? [own('dim', t('{0} has no new commits', storyId))]
      : []),
  ];
}

/** The work lands, or goes back to another agent. */
export function landingLine(
  event: EventOf<'landing.queued' | 'landing.candidate' | 'landing.landed' | 'landing.returned'>,
  t: Translate,
  state: RunState,
): readonly TranscriptLine[] {
  const { storyId } = event;
  switch (event.type) {
    case 'landing.queued':
      return [
        own(
          'plain',
          event.by === 'person'
            ? t('{0} is settled by hand, and waits to land', storyId)
            : t('{0} waits to land', storyId),
        ),
      ];
    case 'landing.candidate': {
      const before = runningIteration(state, event.iteration)?.candidate;
      const commit = event.commit.slice(0, SHORT_HASH);
      return [
        ...(before === undefined || before.onto === event.onto
          ? []
          : [
              own(
                'plain',
                t(
                  '{0} has moved, so {1} is made anew on top of it',
                  state.branch ?? t('The branch'),
                  storyId,
                ),
              ),
            ]),
        own('plain', t('{0} is landing as {1}', storyId, commit)),
      ];
    }
    case 'landing.landed':
      return [own('success', t('{0} has landed', storyId))];
    case 'landing.returned':
      return [
        event.reason === 'person' && storyRecord(state, storyId).skipped === 'person'
          ? own('plain', t('{0} does not land: you skipped it', storyId))
          : own('warning', returnedWords(storyId, event.reason, t)),
        ...items('warning', event.files ?? [], t),
        ...(event.detail === undefined
          ? []
          : [own('warning', shorten(t.said(event.detail), MAX_LINE))]),
      ];
  }
}

function returnedWords(storyId: string, reason: ReturnReason, t: Translate): string {
  const words: Readonly<Record<ReturnReason, string>> = {
    conflict: t('{0} conflicts with what has landed meanwhile, so it gets another agent', storyId),
    checks: t('{0} did not land: its checks failed', storyId),
    review: t('{0} did not land: the reviewer objects', storyId),
    person: t('{0} did not land: a person took it back', storyId),
    gone: t('{0} did not land: its commits cannot be read', storyId),
  };
  return words[reason];
}

/** Several stories were checked at once. */
export function stackChecked(
  { failed, storyIds }: EventOf<'stack.checked'>,
  t: Translate,
): readonly TranscriptLine[] {
  const ids = shorten(storyIds.join(', '), MAX_LINE);
  return failed === undefined
    ? [own('success', t('These stories pass the checks together: {0}', ids))]
    : [
        own(
          'warning',
          t('These stories fail the checks together, so they are tried in halves: {0}', ids),
        ),
        line('tool', `● ${t('Check')}(${shorten(failed.command, MAX_LINE)})`),
        ...checkFailed(failed, t),
      ];
}

/** The branch cannot follow what has landed. */
export function targetHeld(
  { branch, detail, files, reason, ref }: EventOf<'target.held'>,
  t: Translate,
): readonly TranscriptLine[] {
  return [
    own('warning', heldWords(branch, reason, t)),
    ...items('warning', files, t),
    ...(detail === undefined ? [] : [own('warning', shorten(t.said(detail), MAX_LINE))]),
    own('dim', t('What has landed is kept meanwhile: git log {0}', ref)),
  ];
}

/** After the end of a run: its branch does not have everything yet. Nothing if it has. */
export function stillHeld(
  { branch = '', held }: Pick<RunState, 'branch' | 'held'>,
  t: Translate,
  door: Door,
): readonly TranscriptLine[] {
  if (held === undefined) {
    return [];
  }
  return [
    own('warning', t('{0} does not have everything that has landed.', branch)),
    own('warning', heldWords(branch, held.reason, t)),
    ...items('warning', held.files, t),
    ...(door === 'terminal' ? [own('warning', bringInWords(held, t))] : []),
  ];
}
