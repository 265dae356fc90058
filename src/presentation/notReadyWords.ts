import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { circleWords } from '../orchestrator/stories/storyProblems.ts';
import type { Door } from './door.ts';
import { type Hindrance, hindranceWords } from './hindrances.ts';
import type { RunEnd } from './runEnd.ts';
import type { Translate } from './translate.ts';

/** With these, a person has nothing to fix before the run continues. */
const SETTLED: readonly Hindrance['kind'][] = ['reset', 'gone', 'queued'];

/** What a run that ended without a ready story left, why, and what to do. */
export function notReady(end: RunEnd, t: Translate, door: Door): string {
  const detail = englishOf(end.detail ?? '');
  const next = door === 'terminal' ? fixNotReady(end, t) : fix('cause', end, t, door);
  if (end.circle !== undefined) {
    return t(
      'No story is ready. Left: {0}. These wait for each other, so none of them can start: {1}. Remove one of these dependencies. {2}',
      ...([detail, circleWords(end.circle), next] as const),
    );
  }
  // In the terminal, the next step names skipped stories.
  const causes =
    end.hindrances &&
    hindranceWords(end.hindrances, t, {
      withSkipped: door === 'window',
      resume: resumeFlags(end),
    });
  if (causes === undefined) {
    // If all of them are skipped, the next step names them.
    return door === 'terminal' && leftSkipped(end).all
      ? `${t('No story is ready.')} ${next}`
      : t(
          'No story is ready. Left: {0}. Each has failed, is blocked or skipped, or waits for another. {1}',
          detail,
          next,
        );
  }
  return end.hindrances?.every(({ kind }) => SETTLED.includes(kind))
    ? `${t('No story was ready. Left: {0}.', detail)} ${causes}`
    : `${t('No story is ready. Left: {0}.', detail)} ${causes} ${next}`;
}

/** What to do about a run that cannot go on by itself. */
export function fix(
  what: 'cause' | 'task' | 'story',
  end: RunEnd,
  t: Translate,
  door: Door,
): string {
  const inTerminal = door === 'terminal';
  const flags = resumeFlags(end);
  const words: Readonly<Record<typeof what, string>> = {
    cause: inTerminal
      ? t('Fix the cause, then run with {0}.', flags)
      : t('Fix the cause, then start again to continue.'),
    task: inTerminal
      ? t('Make the task smaller or clearer, then run with {0}.', flags)
      : t('Make the task smaller or clearer, then start again to continue.'),
    story: inTerminal
      ? t('Make the story smaller or clearer, then run with {0}.', flags)
      : t('Make the story smaller or clearer, then start again to continue.'),
  };
  return words[what];
}

/** `--resume` alone is refused where all iterations are used up. */
function resumeFlags({ moreIterations }: RunEnd): string {
  return moreIterations === undefined ? '--resume' : `--resume --max-iterations ${moreIterations}`;
}

/** The skipped stories among the open ones, in the order of the file. */
function leftSkipped({ detail = '', open: ids, skipped = [] }: RunEnd): {
  readonly left: readonly string[];
  readonly all: boolean;
} {
  // Journals of version 0.1 have the ids only as one text, in which a comma of an id is ambiguous.
  const open = ids ?? englishOf(detail).split(', ');
  const left = open.filter(id => skipped.includes(id));
  return { left, all: left.length === open.length };
}

/** A skipped story remains skipped when the run continues. */
function fixNotReady(end: RunEnd, t: Translate): string {
  const { all, left } = leftSkipped(end);
  const [first] = left;
  if (first === undefined) {
    return fix('cause', end, t, 'terminal');
  }
  const undo =
    left.length === 1
      ? t('{0} is skipped; "ralph-fresh skip {1} --undo" undoes that.', first, shellWord(first))
      : t(
          '{0} are skipped; "ralph-fresh skip ID --undo" undoes that for one of them.',
          left.join(', '),
        );
  const flags = resumeFlags(end);
  return all
    ? `${undo} ${t('Then run with {0}.', flags)}`
    : `${undo} ${t('Fix what else is in the way, then run with {0}.', flags)}`;
}
