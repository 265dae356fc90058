import path from 'node:path';
import { requireHuman } from '../../../base/humanError.ts';
import { englishOf, type Words, withTexts } from '../../../base/say.ts';
import { shortenBlock, withoutControls } from '../../../base/text.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ProcessLimits } from '../../process/processLimits.ts';
import type { Agent, AgentErrorKind, AgentRequest } from '../agent.ts';
import { lastWords } from '../lastWords.ts';
import { type AgentEnd, type AgentProcessOptions, runAgentProcess } from './agentProcess.ts';
import { callCost } from './callCost.ts';
import { CallJournal } from './callJournal.ts';

/** Longest error message in the journal, in UTF-16 units; the raw stream has the rest. */
const MAX_TEXT = 4_000;

export interface AgentCallRequest {
  /** The purpose of the call, usually `story`. */
  readonly purpose: 'story' | 'plan' | 'review';
  /** 0 before the first iteration. */
  readonly iteration: number;
  readonly runId: string;
  readonly agent: Agent;
  readonly request: AgentRequest;
  readonly limits: ProcessLimits;
  readonly journal: Journal;
  /** Absolute path of the user's folder; the agent may work elsewhere. */
  readonly workspace: string;
  /** The file for the agent's whole output, byte for byte. */
  readonly rawFile: string;
  /** Aborted: end the agent, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end the agent with SIGKILL. */
  readonly killSignal: AbortSignal;
  /** See {@link AgentProcessOptions.ready}. */
  readonly ready?: Promise<unknown>;
  /** See {@link AgentProcessOptions.onExit}. */
  readonly onExit?: () => void;
}

/** The result of one fresh agent's process, before the files are examined. */
export interface AgentCallResult {
  readonly end: AgentEnd;
  /** The call failed, according to its result, its exit code, or a limit. */
  readonly error?: {
    readonly kind: AgentErrorKind | AgentEnd['reason'];
    readonly message: Words;
    /** When a usage limit resets, in ms since the epoch, if the agent reported it. */
    readonly resetsAt?: number;
  };
  /** Its cost in US dollars, if known. */
  readonly costUsd?: number;
  /** The model that it reported. */
  readonly model?: string;
  /** After a wait there was nothing left to do for the call, so it was not repeated. */
  readonly notWanted?: true;
}

/**
 * Runs one process of a fresh agent from start to end, and writes what it does to the journal as it happens. Does
 * not look at the changes in the files.
 */
export async function callAgentOnce(call: AgentCallRequest): Promise<AgentCallResult> {
  const { agent, iteration, journal, runId } = call;
  const purpose = call.purpose === 'story' ? undefined : call.purpose;
  const record = new CallJournal(journal, {
    ...{ iteration, purpose },
    stream: path.basename(call.rawFile),
    budgetUsd: call.request.maxBudgetUsd,
  });
  let end: AgentEnd;
  try {
    const command = await agent.command(call.request);
    end = await runAgentProcess(agent, command, {
      cwd: call.request.cwd,
      runId,
      limits: call.limits,
      signal: call.signal,
      killSignal: call.killSignal,
      rawFile: call.rawFile,
      ready: call.ready,
      onExit: call.onExit,
      record,
    });
  } catch (error) {
    requireHuman(error);
    end = { reason: 'notStarted', durationMs: 0, leftovers: 0, stderr: '', problem: error.said };
  }
  record.end();
  const error = errorOf(end);
  const cost = callCost(end.result, record.estimate);
  journal.append({
    type: 'agent.ended',
    iteration,
    purpose,
    reason: end.reason,
    exitCode: end.exitCode,
    signal: end.signal,
    durationMs: Math.round(end.durationMs),
    leftovers: end.leftovers,
    error: error === undefined ? undefined : { kind: error.kind, message: error.message },
    ...(error === undefined ? {} : stderrOf(end, error.message, call.workspace)),
    ...cost,
  });
  return {
    end,
    error,
    costUsd: cost.costUsd,
    model: record.model,
  };
}

function errorOf(end: AgentEnd): AgentCallResult['error'] {
  if (end.error) {
    return { ...end.error, message: bounded(end.error.message) };
  }
  switch (end.reason) {
    case 'cancelled':
      return undefined;
    case 'hardLimit':
    case 'idleLimit':
      return { kind: end.reason, message: lastWords(end.stderr, MAX_TEXT) };
    case 'notStarted':
      return { kind: end.reason, message: bounded(end.problem ?? '') };
    case 'exited':
    case 'lingered': {
      if (end.result?.isError) {
        const { kind = 'other', message = end.result.text, resetsAt } = end.result.error ?? {};
        return {
          kind,
          message: bounded(message),
          resetsAt,
        };
      }
      if (end.result === undefined || (end.reason === 'exited' && end.exitCode !== 0)) {
        return { kind: 'other', message: lastWords(end.stderr, MAX_TEXT) };
      }
      return undefined;
    }
  }
}

function bounded(words: Words): Words {
  return withTexts(words, text => shortenBlock(text, MAX_TEXT));
}

/** The file with the whole standard error, relative to the workspace. */
function stderrOf(
  { stderr, stderrFile }: AgentEnd,
  message: Words,
  workspace: string,
): { stderr?: string } {
  const isWhole = withoutControls(stderr).trim() === englishOf(message);
  return stderrFile === undefined || isWhole
    ? {}
    : { stderr: path.relative(workspace, stderrFile).split(path.sep).join('/') };
}
