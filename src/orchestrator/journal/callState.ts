import { assertNever } from '../../base/assertNever.ts';
import { withoutProcess } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import type { RunState } from './runState.ts';
import { storyOf, withIteration, withNotes } from './stateChanges.ts';
import { tellsCost } from './tellsCost.ts';
import { addTokens, NO_TOKENS } from './tokenCounts.ts';

type CallEvent = Extract<
  RunEvent,
  {
    type:
      | 'agent.started'
      | 'agent.init'
      | 'agent.text'
      | 'agent.tool'
      | 'agent.ended'
      | 'agent.replaced'
      | 'call.retried';
  }
>;

/** What the calls of agents tell while they last, what they cost, and how they end. */
export function callState(state: RunState, event: CallEvent): RunState {
  switch (event.type) {
    case 'agent.started': {
      const process = { agentPid: event.pid, agentStartId: event.startId };
      return state.running.length > 0
        ? withIteration(state, event, current => ({
            ...current,
            ...process,
            hasWorked: true,
            ...(event.purpose === 'review' && { step: 'review' as const }),
          }))
        : { ...state, planner: process };
    }
    case 'agent.init':
      return {
        ...state,
        apiKeySource: event.apiKeySource ?? state.apiKeySource,
        model: event.model ?? state.model,
      };
    case 'agent.text':
      return withIteration(state, event, current => ({
        ...current,
        activity: ofSubagent(event, lastLine(event.text)),
      }));
    case 'agent.tool':
      return withIteration(state, event, current => ({
        ...current,
        activity: ofSubagent(event, event.gist === '' ? event.name : `${event.name} ${event.gist}`),
      }));
    case 'agent.ended': {
      const ended = withCost(withIteration(state, event, withoutProcess), event);
      const { error, iteration } = event;
      return error === undefined
        ? ended
        : withNotes(ended, storyOf(state, iteration), ({ lastError, ...notes }) => ({
            ...notes,
            lastError: {
              iteration,
              kind: error.kind,
              message: error.message,
              recoveryAttempt:
                lastError?.iteration === iteration ? lastError.recoveryAttempt : undefined,
            },
          }));
    }
    case 'agent.replaced':
      return {
        ...state,
        agent: event.to,
        ...(!tellsCost(event.to) && { costUnknown: true }),
      };
    case 'call.retried':
      return withNotes(state, storyOf(state, event.iteration), notes => ({
        ...notes,
        lastError: {
          iteration: event.iteration,
          kind: event.error.kind,
          message: event.error.message,
          recoveryAttempt: `retry ${event.attempt} of ${event.maxAttempts}`,
        },
      }));
    default:
      return assertNever(event);
  }
}

function withCost(state: RunState, event: Extract<RunEvent, { type: 'agent.ended' }>): RunState {
  const { costEstimated, costUsd, usage } = event;
  const estimated = costEstimated === true && ({ costEstimated } as const);
  const counted = withIteration(state, event, current => ({
    ...current,
    costUsd: current.costUsd + (costUsd ?? 0),
    ...estimated,
    ...(usage && { usage: addTokens(current.usage ?? NO_TOKENS, usage) }),
  }));
  return {
    ...counted,
    costUsd: state.costUsd + (costUsd ?? 0),
    ...estimated,
    usage: usage ? addTokens(state.usage, usage) : state.usage,
  };
}

/** A subagent is named: several may work at once. */
function ofSubagent(
  { parent }: Extract<RunEvent, { type: 'agent.text' | 'agent.tool' }>,
  activity: string,
): string {
  return parent === undefined ? activity : `${parent.name} › ${activity}`;
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
