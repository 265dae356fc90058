import { assertNever } from '../base/assertNever.ts';
import { englishOf, type Words } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { type RunState, runningIteration, storyRecord } from '../orchestrator/journal/runState.ts';
import type { Door } from './door.ts';
import { subagentEnded } from './subagentLines.ts';
import { resultLines, type ToolCall, toolDenied } from './toolLines.ts';
import {
  type EventOf,
  line,
  linesBefore,
  MAX_LINE,
  own,
  type TranscriptLine,
} from './transcriptLine.ts';
import { duration, type Translate, wholeNumber } from './translate.ts';

/** Number of lines shown of an agent's failure, the last ones. */
const MAX_ERROR_LINES = 6;
/** Maximum length of a one-line failure, in UTF-16 units: ours end with the next step. */
const MAX_ERROR = 1_000;

/** What lines need to know, besides their event. */
export interface Telling {
  /** The fold of all earlier events. */
  readonly state: RunState;
  readonly door: Door;
  /** For a tool's result: the call that it belongs to, if known. */
  readonly call: ToolCall | undefined;
  /** A tool that was not allowed can be allowed where this is read. */
  readonly offersTools: boolean;
}

/** What an agent says and does, and what becomes of its call. */
export function agentLines(
  event: EventOf<
    | 'agent.started'
    | 'agent.init'
    | 'agent.text'
    | 'agent.tool'
    | 'agent.toolFailed'
    | 'agent.toolResult'
    | 'agent.subagentEnded'
    | 'agent.retry'
    | 'agent.denied'
    | 'agent.compacted'
    | 'agent.output'
    | 'agent.overflow'
    | 'agent.ended'
    | 'call.retried'
    | 'agent.replaced'
  >,
  t: Translate,
  telling: Telling,
): readonly TranscriptLine[] {
  switch (event.type) {
    case 'agent.started':
      return event.purpose === 'plan'
        ? [own('plain', t('A fresh agent plans the stories…'))]
        : event.purpose === 'review'
          ? [own('plain', t('A fresh agent reviews the work…'))]
          : [];
    case 'agent.init':
      return agentInit(event, t);
    case 'agent.text':
      return agentText(event, t);
    case 'agent.tool':
      return [line('tool', `● ${event.name}${event.gist === '' ? '' : `(${event.gist})`}`)];
    case 'agent.toolFailed':
      return resultLines('error', event, t, telling);
    case 'agent.toolResult':
      return resultLines('dim', event, t, telling);
    case 'agent.subagentEnded':
      return subagentEnded(event, t);
    case 'agent.retry':
      return [
        line(
          'warning',
          `  ${t('API error ({0}), trying again ({1} of {2})', event.status ?? event.error, event.attempt, event.maxAttempts)}`,
        ),
      ];
    case 'agent.denied':
      return toolDenied(event, t, telling.offersTools);
    case 'agent.compacted':
      return [own('warning', contextFull(event, t))];
    case 'agent.output':
      return event.text.split('\n').map(text => line('dim', `  ${text}`));
    case 'agent.overflow':
      return [
        own(
          'dim',
          t(
            'The agent prints more than the journal keeps. From here on, only a part is shown; {0} in the folder of the iteration has everything',
            event.stream,
          ),
        ),
      ];
    case 'agent.ended':
      return [...agentStopped(event, t, telling.state), ...agentEnded(event, t)];
    case 'call.retried':
      return [callRetried(event, t)];
    case 'agent.replaced':
      return [agentReplaced(event, t)];
    default:
      return assertNever(event);
  }
}

/** Which agent it is, and who pays. */
function agentInit(event: EventOf<'agent.init'>, t: Translate): readonly TranscriptLine[] {
  const facts = [
    event.model,
    /^\d/.test(event.version ?? '') ? `Claude Code ${event.version}` : undefined,
    event.apiKeySource === 'ANTHROPIC_API_KEY' ? t('paid by ANTHROPIC_API_KEY') : undefined,
  ].filter(fact => fact !== undefined && fact !== '');
  return facts.length === 0 ? [] : [line('dim', `  ${facts.join(' · ')}`)];
}

/** Text of the agent. */
function agentText(event: EventOf<'agent.text'>, t: Translate): readonly TranscriptLine[] {
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
function agentStopped(
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
function agentEnded(event: EventOf<'agent.ended'>, t: Translate): readonly TranscriptLine[] {
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
    found.push(...failedLines(event.error.message, event, t));
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
  { exitCode = 0, stderr }: EventOf<'agent.ended'>,
  t: Translate,
): readonly TranscriptLine[] {
  const texts = t.said(message).split('\n');
  const more = texts.length - MAX_ERROR_LINES;
  // An agent that printed nothing has the code as its message.
  const hasCode = exitCode !== 0 && englishOf(message) !== `exit code ${exitCode}`;
  const text = shorten(texts.join(), MAX_ERROR);
  return [
    ...(texts.length === 1
      ? [
          own(
            'error',
            hasCode
              ? t('The agent failed (exit code {0}): {1}', exitCode, text)
              : t('The agent failed: {0}', text),
          ),
        ]
      : [
          own(
            'error',
            hasCode
              ? t('The agent failed (exit code {0}). Its last output:', exitCode)
              : t('The agent failed. Its last output:'),
          ),
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
function callRetried(event: EventOf<'call.retried'>, t: Translate): TranscriptLine {
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
function agentReplaced(event: EventOf<'agent.replaced'>, t: Translate): TranscriptLine {
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

function contextFull({ tokens }: EventOf<'agent.compacted'>, t: Translate): string {
  return tokens === undefined
    ? t("The agent's context was full, so it was condensed. Smaller stories leave more room")
    : t(
        "The agent's context was full ({0} tokens), so it was condensed. Smaller stories leave more room",
        wholeNumber(tokens, t),
      );
}
