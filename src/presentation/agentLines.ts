import { assertNever } from '../base/assertNever.ts';
import type { Words } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { type RunState, runningIteration, storyRecord } from '../orchestrator/journal/runState.ts';
import {
  type EventOf,
  line,
  linesBefore,
  MAX_LINE,
  own,
  type TranscriptLine,
} from './transcriptLine.ts';
import { duration, type Translate } from './translate.ts';

/** Number of lines shown of an agent's failure, the last ones. */
const MAX_ERROR_LINES = 6;
/** Maximum length of a one-line failure, in UTF-16 units: ours end with the next step. */
const MAX_ERROR = 1_000;

/** Which agent it is, and who pays. */
export function agentInit(event: EventOf<'agent.init'>, t: Translate): readonly TranscriptLine[] {
  const facts = [
    event.model,
    /^\d/.test(event.version ?? '') ? `Claude Code ${event.version}` : undefined,
    event.apiKeySource === 'ANTHROPIC_API_KEY' ? t('paid by ANTHROPIC_API_KEY') : undefined,
  ].filter(fact => fact !== undefined && fact !== '');
  return facts.length === 0 ? [] : [line('dim', `  ${facts.join(' · ')}`)];
}

/** Text of the agent. */
export function agentText(event: EventOf<'agent.text'>, t: Translate): readonly TranscriptLine[] {
  return [
    ...event.text
      .trim()
      .split('\n')
      .map((text, at) => line('plain', at === 0 ? `● ${text}` : text === '' ? '' : `  ${text}`)),
    ...(event.cut === undefined
      ? []
      : [
          line(
            'dim',
            `  ${event.cut === 1 ? t('… 1 more character') : t('… {0} more characters', event.cut)}`,
          ),
        ]),
  ];
}

/** A person has ended only this agent; the run continues with other stories. */
export function agentStopped(
  { iteration, reason }: EventOf<'agent.ended'>,
  t: Translate,
  state: RunState,
): readonly TranscriptLine[] {
  const { queued, storyId = '' } =
    (iteration === undefined ? undefined : runningIteration(state, iteration)) ?? {};
  const { paused, skipped } = storyRecord(state, storyId);
  if (reason !== 'cancelled' || queued || storyId === '' || state.phase === 'stopping') {
    return [];
  }
  return paused
    ? [own('plain', t('You stopped the agent of {0}; what it has done is kept', storyId))]
    : skipped === 'person'
      ? [own('plain', t('You skipped {0}, so its agent was ended', storyId))]
      : [];
}

/** How its process ended, if that deserves a line. */
export function agentEnded(event: EventOf<'agent.ended'>, t: Translate): readonly TranscriptLine[] {
  const found: TranscriptLine[] = [];
  switch (event.reason) {
    case 'hardLimit':
      found.push(own('warning', t('The agent reached the time limit and was ended')));
      break;
    case 'idleLimit':
      found.push(own('warning', t('The agent was silent for too long and was ended')));
      break;
    case 'lingered':
      found.push(own('dim', t('The agent had finished but did not exit, and was ended')));
      break;
    case 'notStarted':
      found.push(own('error', t('The agent could not be started')));
      break;
    case 'exited':
    case 'cancelled':
      break;
    default:
      assertNever(event.reason);
  }
  if (event.error && event.error.message !== '') {
    found.push(...failedLines(event.error.message, event.stderr, t));
  } else if (event.error && event.reason === 'exited') {
    found.push(
      own('error', t('The agent failed (exit code {0})', event.exitCode ?? event.signal ?? '?')),
    );
  }
  if (event.leftovers > 0) {
    found.push(
      own(
        'dim',
        event.leftovers === 1
          ? t('Ended 1 process that the agent had left running')
          : t('Ended {0} processes that the agent had left running', event.leftovers),
      ),
    );
  }
  return found;
}

/** The agent's own last words. If there are many lines, each gets its own, followed by where to find all of them. */
function failedLines(
  message: Words,
  stderr: string | undefined,
  t: Translate,
): readonly TranscriptLine[] {
  const texts = t.said(message).split('\n');
  const more = texts.length - MAX_ERROR_LINES;
  return [
    ...(texts.length === 1
      ? [own('error', t('The agent failed: {0}', shorten(texts.join(), MAX_ERROR)))]
      : [
          own('error', t('The agent failed. Its last output:')),
          ...(more > 0 ? [line('dim', `  ${linesBefore(more, t)}`)] : []),
          ...texts
            .slice(-MAX_ERROR_LINES)
            .map(text => line('error', `  ${shorten(text, MAX_LINE)}`)),
        ]),
    ...(stderr === undefined
      ? []
      : [line('dim', `  ${t('Its full error output is in {0}', stderr)}`)]),
  ];
}

/** A call failed temporarily. */
export function callRetried(event: EventOf<'call.retried'>, t: Translate): TranscriptLine {
  return own(
    'warning',
    t(
      'The call failed ({0}); again in {1} ({2} of {3})',
      shorten(t.said(event.error.message), MAX_LINE) || event.error.kind,
      duration(event.delayMs, t),
      event.attempt,
      event.maxAttempts,
    ),
  );
}

/** Another agent takes over. */
export function agentReplaced(event: EventOf<'agent.replaced'>, t: Translate): TranscriptLine {
  return own(
    'warning',
    t(
      'The agent {0} could not be started ({1}); {2} is used instead',
      event.from,
      shorten(t.said(event.reason), MAX_LINE),
      event.to,
    ),
  );
}
