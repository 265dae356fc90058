import { assertNever } from '../orchestrator/assertNever.ts';
import type { RunEvent, StoryCount } from '../orchestrator/run/events.ts';
import { withoutControls } from '../orchestrator/text.ts';
import { outcomeSentence, type Translate } from './sentences.ts';

/** Roles of text in a transcript; each door decides how they look. */
export type Style = 'plain' | 'heading' | 'dim' | 'tool' | 'success' | 'warning' | 'error';

export interface TranscriptLine {
  readonly style: Style;
  readonly text: string;
}

const PREFIX = '[Ralph Fresh]';

/**
 * Tells a run's events as a person reads them in a terminal: the whitepaper's lines (5.2) and the agent's
 * work between them. Text of agents, stories and commits comes out without control characters.
 */
export function describeEvent(event: RunEvent, t: Translate): readonly TranscriptLine[] {
  return lines(event, t).map(({ style, text }) => ({ style, text: withoutControls(text) }));
}

function lines(event: RunEvent, t: Translate): readonly TranscriptLine[] {
  switch (event.type) {
    case 'run.started':
      return [
        own('heading', t('Starting fresh-context orchestration')),
        own('plain', t('Agent: {0}', [event.agent, event.model].filter(Boolean).join(', '))),
        own('plain', t('Max iterations: {0}', event.maxIterations)),
        own('plain', t('Stuck threshold: {0}', event.stuckThreshold)),
        own('plain', t('Task: {0}', firstLine(event.task))),
      ];
    case 'iteration.started':
      return [
        line('plain', ''),
        own('heading', `=== ${t('Iteration {0}/{1}', event.iteration, event.maxIterations)} ===`),
        ...statusLine(event.stories, t),
        ...(event.storyId === undefined
          ? []
          : [own('plain', `${event.storyId}: ${event.storyTitle ?? ''}`)]),
        ...(event.stuckFor > 0
          ? [own('warning', t('No progress on it for {0} iterations', event.stuckFor))]
          : []),
        own('plain', t('Spawning a fresh agent…')),
      ];
    case 'agent.started':
      return [];
    case 'agent.init': {
      const facts = [
        event.model,
        /^\d/.test(event.version ?? '') ? `Claude Code ${event.version}` : undefined,
        event.apiKeySource === 'ANTHROPIC_API_KEY' ? t('paid by ANTHROPIC_API_KEY') : undefined,
      ].filter(fact => fact !== undefined && fact !== '');
      return facts.length === 0 ? [] : [line('dim', `  ${facts.join(' · ')}`)];
    }
    case 'agent.text':
      return [
        ...event.text.split('\n').map(text => line('plain', text === '' ? '' : `  ${text}`)),
        ...(event.cut === undefined
          ? []
          : [line('dim', `  ${t('… {0} more characters', event.cut)}`)]),
      ];
    case 'agent.tool':
      return [line('tool', `  ● ${event.name}${event.gist === '' ? '' : ` ${event.gist}`}`)];
    case 'agent.toolFailed':
      return [line('error', `    ${t('failed: {0}', firstLine(event.gist))}`)];
    case 'agent.retry':
      return [
        line(
          'warning',
          `  ${t('API error ({0}), trying again ({1} of {2})', event.status ?? event.error, event.attempt, event.maxAttempts)}`,
        ),
      ];
    case 'agent.denied':
      return [
        line('warning', `  ${t('Not allowed: {0}', `${event.tool} ${firstLine(event.message)}`)}`),
      ];
    case 'agent.output':
      return event.text.split('\n').map(text => line('dim', `  ${text}`));
    case 'agent.ended':
      return agentEnded(event, t);
    case 'commit.recorded':
      return [own('success', t('Commit {0} {1}', event.hash.slice(0, 7), event.subject))];
    case 'story.changed':
      return [storyChanged(event, t)];
    case 'story.ticked':
      return [
        own(
          'plain',
          event.done
            ? t('{0} ticked by hand', event.storyId)
            : t('{0} unticked by hand', event.storyId),
        ),
      ];
    case 'promise.seen':
      return [promiseSeen(event, t)];
    case 'iteration.ended':
      return [own('dim', iterationFacts(event, t)), ...statusLine(event.stories, t)];
    case 'warning':
      return [own('warning', `${event.code}: ${firstLine(event.detail)}`)];
    case 'stop.requested':
      return [
        own(
          'warning',
          event.mode === 'afterIteration'
            ? t('Will stop after this iteration')
            : event.by === 'signal'
              ? t('Received SIGINT, saving state and exiting...')
              : t('Stop requested, saving state and exiting...'),
        ),
      ];
    case 'run.ended': {
      const { text, good } = outcomeSentence(event, t);
      return [line('plain', ''), own(good ? 'success' : 'warning', good ? `✅ ${text}` : text)];
    }
    default:
      return assertNever(event);
  }
}

function agentEnded(
  event: Extract<RunEvent, { type: 'agent.ended' }>,
  t: Translate,
): readonly TranscriptLine[] {
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
    found.push(own('error', t('The agent failed: {0}', event.error.message)));
  } else if (event.error && event.reason === 'exited') {
    found.push(
      own('error', t('The agent failed (exit code {0})', event.exitCode ?? event.signal ?? '?')),
    );
  }
  if (event.leftovers > 0) {
    found.push(
      own('dim', t('Ended {0} processes that the agent had left running', event.leftovers)),
    );
  }
  return found;
}

function storyChanged(
  { storyId, done, by }: Extract<RunEvent, { type: 'story.changed' }>,
  t: Translate,
): TranscriptLine {
  if (by === 'outside') {
    return own(
      'plain',
      done
        ? t('{0} was marked done by somebody else', storyId)
        : t('{0} was marked not done by somebody else', storyId),
    );
  }
  return done
    ? own('success', t('{0} is done', storyId))
    : own('warning', t('{0} was put back to not done', storyId));
}

function promiseSeen(
  { signal, message, accepted }: Extract<RunEvent, { type: 'promise.seen' }>,
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

function iterationFacts(
  event: Extract<RunEvent, { type: 'iteration.ended' }>,
  t: Translate,
): string {
  return [
    t('Iteration {0}: {1}', event.iteration, outcomeWord(event.outcome, t)),
    duration(event.durationMs),
    event.commits === 1 ? t('1 commit') : t('{0} commits', event.commits),
    ...(event.turns === undefined
      ? []
      : [event.turns === 1 ? t('1 turn') : t('{0} turns', event.turns)]),
    ...(event.costUsd === undefined ? [] : [`$${event.costUsd.toFixed(2)}`]),
  ].join(' · ');
}

function outcomeWord(
  outcome: Extract<RunEvent, { type: 'iteration.ended' }>['outcome'],
  t: Translate,
): string {
  switch (outcome) {
    case 'storyDone':
      return t('story done');
    case 'progress':
      return t('progress');
    case 'noProgress':
      return t('no progress');
    case 'failed':
      return t('failed');
    case 'blocked':
      return t('blocked');
    case 'needsHuman':
      return t('needs you');
    case 'stopped':
      return t('stopped');
    default:
      return assertNever(outcome);
  }
}

function statusLine({ done, total }: StoryCount, t: Translate): readonly TranscriptLine[] {
  return total === 0 ? [] : [own('plain', t('PRD Status: {0}/{1} stories complete', done, total))];
}

/** Minutes and seconds; tenths below ten seconds. */
function duration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function own(style: Style, text: string): TranscriptLine {
  return line(style, `${PREFIX} ${text}`);
}

function line(style: Style, text: string): TranscriptLine {
  return { style, text };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
