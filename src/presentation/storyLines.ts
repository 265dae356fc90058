import { assertNever } from '../base/assertNever.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { openQuestions, pausedStories, type RunState } from '../orchestrator/journal/runState.ts';
import type { Door } from './door.ts';
import { type EventOf, MAX_LINE, own, type TranscriptLine } from './transcriptLine.ts';
import { iterationCount, type Translate } from './translate.ts';
import { answerCommand, asksWords, continueWith } from './waitingWords.ts';

/** What has become of a story, and who decided that. */
export function storyLines(
  event: EventOf<
    | 'story.skipped'
    | 'story.reset'
    | 'story.stuck'
    | 'story.changed'
    | 'story.ticked'
    | 'story.paused'
    | 'story.settling'
  >,
  t: Translate,
  state: RunState,
  door: Door,
): readonly TranscriptLine[] {
  switch (event.type) {
    case 'story.skipped':
      return [storySkipped(event, t, door)];
    case 'story.reset':
      return [own('plain', t('{0} gets another chance', event.storyId))];
    case 'story.stuck':
      return [storyStuck(event, t)];
    case 'story.changed':
      return [storyChanged(event, t, state.verify.length > 0 || state.reviewer === true)];
    case 'story.ticked':
      return [
        own(
          'plain',
          event.done
            ? t('{0} ticked by hand', event.storyId)
            : t('{0} unticked by hand', event.storyId),
        ),
      ];
    case 'story.paused':
      return storyPaused(event, t, state);
    case 'story.settling':
      return [
        own(
          'plain',
          event.settling
            ? t('A person settles the conflict of {0}', event.storyId)
            : t('Nobody settles a conflict of {0} by hand any more', event.storyId),
        ),
      ];
    default:
      return assertNever(event);
  }
}

/** A story is skipped in this run. */
function storySkipped(
  { storyId, by }: EventOf<'story.skipped'>,
  t: Translate,
  door: Door,
): TranscriptLine {
  if (by === 'stuck') {
    return own('warning', t('{0} is skipped in this run', storyId));
  }
  return own(
    'plain',
    door === 'terminal'
      ? t('{0} is skipped; "ralph-fresh skip {1} --undo" undoes that', storyId, shellWord(storyId))
      : t('{0} is skipped', storyId),
  );
}

/** A person has paused or stopped a story, or continues with it. Said once, however often it is asked for. */
function storyPaused(
  { paused, storyId }: EventOf<'story.paused'>,
  t: Translate,
  state: Pick<RunState, 'storyRecords'>,
): readonly TranscriptLine[] {
  if (!paused) {
    return [own('plain', t('{0} continues', storyId))];
  }
  return state.storyRecords.get(storyId)?.paused
    ? []
    : [own('plain', t('No further agent starts for {0}', storyId))];
}

/** Stories and lanes that are paused while the run is not, and in a terminal how to continue them. */
export function stillPaused(
  { pausedLanes = [], storyRecords }: Pick<RunState, 'pausedLanes' | 'storyRecords'>,
  t: Translate,
  door: Door,
): readonly string[] {
  const [story, ...others] = pausedStories({ storyRecords });
  const [lane] = pausedLanes;
  const withNext = (what: string, part: Parameters<typeof continueWith>[0]) =>
    door === 'terminal' ? `${what} ${continueWith(part, t)}` : what;
  return [
    ...(story === undefined
      ? []
      : [withNext(t('Paused: {0}.', shorten([story, ...others].join(', '), MAX_LINE)), { story })]),
    ...(lane === undefined
      ? []
      : [withNext(t('Paused lanes: {0}.', pausedLanes.join(', ')), { lane })]),
  ];
}

/** What a run that continues does about questions that nobody has answered. */
export function stillAsked(
  before: Pick<RunState, 'storyNotes'>,
  after: Pick<RunState, 'storyNotes'>,
  t: Translate,
  door: Door,
): readonly string[] {
  const open = openQuestions(after);
  return openQuestions(before).map(question => {
    const { message, storyId } = question;
    const asked = storyId === undefined ? shorten(message, MAX_LINE) : asksWords(question, t);
    if (!open.includes(question)) {
      return t('The run continues without an answer, and the next agent is told so. {0}', asked);
    }
    return door === 'terminal'
      ? `${asked} ${t('Answer with: {0}', answerCommand(storyId))}`
      : asked;
  });
}

/** A story makes no progress, and what the run does about it. */
function storyStuck(
  { storyId, iterations, action }: EventOf<'story.stuck'>,
  t: Translate,
): TranscriptLine {
  const what = storyId === '' ? t('The task') : storyId;
  const howLong = iterationCount(iterations, t);
  const words: Readonly<Record<typeof action, string>> = {
    warn: t('{0} has made no progress for {1}; its next agent is warned', what, howLong),
    later: t('{0} has made no progress for {1}; the other stories come first', what, howLong),
    // The consequence is an event of its own.
    skip: t('{0} has made no progress for {1}', what, howLong),
    ask: t('{0} has made no progress for {1}; the run waits for you', what, howLong),
    stop: t('{0} has made no progress for {1}; the run ends', what, howLong),
  };
  return own('warning', words[action]);
}

/** A story is now done, or no longer done, and who changed it. */
function storyChanged(
  { storyId, done, by }: EventOf<'story.changed'>,
  t: Translate,
  isChecked: boolean,
): TranscriptLine {
  switch (by) {
    case 'agent':
      if (done && isChecked) {
        return own('plain', t('{0} is marked done by its agent', storyId));
      }
      return done
        ? own('success', t('{0} is done', storyId))
        : own('warning', t('{0} was set back to not done', storyId));
    case 'outside':
      return own(
        'plain',
        done
          ? t('{0} was marked done by somebody else', storyId)
          : t('{0} was marked not done by somebody else', storyId),
      );
    case 'gate':
      return own('warning', t('{0} was set back to not done: its checks failed', storyId));
    case 'reviewer':
      return own('warning', t('{0} was set back to not done: the reviewer objects', storyId));
    case 'skip':
      return own('warning', t('{0} was set back to not done: a skip ended its checks', storyId));
    case 'guard':
      return own(
        'warning',
        done
          ? t('{0} was set back to done: this iteration was not working on it', storyId)
          : t('{0} was set back to not done: this iteration was not working on it', storyId),
      );
    default:
      return assertNever(by);
  }
}

/** What an agent's final message says about its story. */
export function promiseSeen(
  { signal, message, accepted }: EventOf<'promise.seen'>,
  t: Translate,
): TranscriptLine {
  switch (signal) {
    case 'complete':
      return accepted
        ? own('success', t('Completion promise detected!'))
        : own('warning', t('Completion promise not accepted: there are open stories'));
    case 'needsHuman':
      return own('warning', t('The agent needs you: {0}', message));
    case 'blocked':
      return own('warning', t('The story is blocked: {0}', message));
    default:
      return assertNever(signal);
  }
}
