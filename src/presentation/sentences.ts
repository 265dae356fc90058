import { assertNever } from '../orchestrator/assertNever.ts';
import type { RunOutcome, StoryCount } from '../orchestrator/run/events.ts';

/** Translates an English message with `{0}`-style places; VS Code's `l10n.t` is one. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

/** The command line speaks English. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (place, index) => String(args[Number(index)] ?? place));

/** How a run ended, and what to do next, in one or two sentences. */
export function outcomeSentence(
  end: {
    readonly outcome: RunOutcome;
    readonly iterations: number;
    readonly stories: StoryCount;
    readonly detail?: string | undefined;
  },
  t: Translate,
): { readonly text: string; readonly good: boolean } {
  const { iterations, stories } = end;
  const detail = end.detail ?? '';
  switch (end.outcome) {
    case 'completed':
      return {
        good: true,
        text:
          iterations === 0
            ? t('All stories complete, nothing to do')
            : iterations === 1
              ? t('COMPLETE after 1 iteration')
              : t('COMPLETE after {0} iterations', iterations),
      };
    case 'maxIterations':
      return {
        good: false,
        text: t(
          'Max iterations reached ({0}) with {1} of {2} stories complete. Run again to go on.',
          iterations,
          stories.done,
          stories.total,
        ),
      };
    case 'needsHuman':
      return {
        good: false,
        text: t('Needs you: {0} Run again when that is settled.', sentence(detail)),
      };
    case 'noReadyStory':
      return {
        good: false,
        text: t(
          'No story is ready: {0}. Each has failed, is blocked, or waits for another.',
          detail,
        ),
      };
    case 'stopped':
      return { good: false, text: t('Stopped. State saved; run again to go on.') };
    case 'error':
      return { good: false, text: t('Cannot go on: {0}', detail) };
    case 'interrupted':
      return {
        good: false,
        text: t('The loop was killed in iteration {0}. Run again to go on.', iterations),
      };
    default:
      return assertNever(end.outcome);
  }
}

function sentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}
