import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { writeDerivedFile } from '../../../base/plainFile.ts';
import { say, type Words, withTexts } from '../../../base/say.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RunConfig } from '../../settings/config.ts';
import { grantedTools, grantedToolsFile } from '../../settings/grantedTools.ts';
import type { RunFiles } from '../../workspace/runFiles.ts';
import type { StopSwitch } from '../../workspace/stopSwitch.ts';
import { type Agent, type AgentRequest, isTransient } from '../agent.ts';
import { type AgentCallResult, callAgentOnce } from './agentCall.ts';
import { type BudgetLedger, LESS_THAN_A_CENT } from './budgetLedger.ts';
import type { CallAgent } from './callAgent.ts';
import { waitForLimit, waitForRetry } from './callWaits.ts';
import type { RepeatedCall } from './repeatedCall.ts';

/**
 * After these errors a retry is useless: it would fail in the same way, or a person has to act. Others may be a
 * crash.
 */
const SETTLED_KINDS: ReadonlySet<string> = new Set([
  'authentication',
  'billing',
  'budget',
  'request',
  'usageLimit',
]);
/** Failed starts of an agent before another agent replaces it. */
const MAX_START_FAILURES = 2;

export interface AgentCallerOptions {
  readonly files: RunFiles;
  readonly runId: string;
  readonly agent: Agent;
  /** Used if `agent` fails to start twice. */
  readonly fallbackAgent?: Agent;
  readonly config: RunConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly journal: Journal;
  readonly stop: StopSwitch;
  /** Aborted when a person wants to continue now. A new signal each time. */
  readonly resume: () => AbortSignal;
  readonly ledger: BudgetLedger;
}

/**
 * Calls fresh agents and handles failures: a transient error is retried with increasing delays, a usage limit is
 * waited for, an agent that does not start is replaced. None of this uses up an iteration.
 */
export class AgentCaller {
  private readonly options: AgentCallerOptions;
  private agent: Agent;
  private startFailures = 0;

  constructor(options: AgentCallerOptions) {
    this.options = options;
    this.agent = options.agent;
  }

  /** Whether the budget allows another call next to those that are under way. */
  get isMoneyLeft(): boolean {
    return this.options.ledger.isMoneyLeft;
  }

  /** @returns the last call's result, with the total cost of all calls */
  async call(call: RepeatedCall): Promise<AgentCallResult> {
    let costUsd = 0;
    const result = await this.callUntilSettled(call, cost => {
      costUsd += cost;
    });
    return costUsd > 0 ? { ...result, costUsd } : result;
  }

  private async callUntilSettled(
    call: RepeatedCall,
    onCost: (costUsd: number) => void,
  ): Promise<AgentCallResult> {
    const { config, stop } = this.options;
    const promptFile = path.join(call.dir, call.promptName);
    if (!existsSync(call.dir)) {
      await mkdir(call.dir, { recursive: true });
    }
    const ready = Promise.all([
      call.isPromptWritten === true ? undefined : writeDerivedFile(promptFile, call.prompt),
      call.ready,
    ]);
    // It runs in parallel with the preparation; the start of the agent waits for it and handles its result.
    ready.catch(() => undefined);
    let { prompt } = call;
    let retries = 0;
    for (let calls = 1; ; calls++) {
      const budget = this.options.ledger.reserve(call.iteration, call.extra?.maxBudgetUsd);
      let result: AgentCallResult;
      try {
        if (budget.usd !== undefined && budget.usd < LESS_THAN_A_CENT) {
          return NOTHING_LEFT;
        }
        result = await this.callOnce({ ...call, prompt, ready }, promptFile, calls, budget.usd);
      } finally {
        budget.settle();
      }
      onCost(result.costUsd ?? 0);
      await ready;
      const { error } = result;
      if (error === undefined || stop.endSignal.aborted || call.skip?.aborted) {
        return result;
      }
      if (error.kind === 'notStarted' && this.replaceAgent(call.iteration, error.message)) {
        continue;
      }
      if (error.kind !== 'notStarted') {
        this.startFailures = 0;
      }
      const isToWait = error.kind === 'usageLimit' && config.onLimit === 'wait';
      if (await call.isDone?.()) {
        // The call failed after its work was done; a retry would do it twice. Whoever is called next waits for the limit.
        return isToWait ? { ...result, error: undefined } : result;
      }
      if (isToWait) {
        const afterWait = await call.onWait?.();
        if ((await waitForLimit(this.options, call, error)) === 'stop') {
          return result;
        }
        const newPrompt = await afterWait?.();
        if (stop.requested || call.skip?.aborted) {
          // Requested in the last moment; it was noticed only when the files were read.
          return result;
        }
        if (afterWait !== undefined) {
          if (newPrompt === undefined) {
            return NOT_WANTED;
          }
          prompt = newPrompt;
          await writeDerivedFile(promptFile, prompt);
        }
        continue;
      }
      // A reviewer changes nothing, so it can be called again after any failure; the claim depends on its verdict.
      const isWorthATry =
        call.purpose === 'review' ? !SETTLED_KINDS.has(error.kind) : isTransient(error.kind);
      if (!isWorthATry || retries >= config.retryAttempts) {
        return result;
      }
      retries += 1;
      if ((await waitForRetry(this.options, call, error, retries)) === 'stop') {
        return result;
      }
    }
  }

  /**
   * The same handling for an agent that does not work on a story; each call keeps its files in `dir`.
   * @param iteration 0 before the first one
   * @param cwd the agent's working directory, absolute; default: the workspace
   */
  port(
    purpose: 'plan' | 'review',
    iteration: number,
    dir: string,
    {
      cwd = this.options.files.workspace,
      env,
      skip,
    }: Pick<RepeatedCall, 'env' | 'skip'> & { readonly cwd?: string } = {},
  ): CallAgent {
    return async ({ name, prompt, ...extra }) => {
      const { costUsd, end, error } = await this.call({
        ...{ purpose, iteration, prompt, cwd, dir, env, extra, skip },
        promptName: `${name}.md`,
        streamName: name,
      });
      return {
        text: end.result?.text ?? '',
        structured: end.result?.structured === undefined ? undefined : end.result.structured,
        error: error ? { kind: error.kind, message: reasonOf(error, end) } : undefined,
        cancelled: end.reason === 'cancelled',
        costUsd,
      };
    };
  }

  private async callOnce(
    call: RepeatedCall,
    promptFile: string,
    calls: number,
    maxBudgetUsd: number | undefined,
  ): Promise<AgentCallResult> {
    const { config, env, files, journal, runId, stop } = this.options;
    const request = agentRequest(config, {
      cwd: call.cwd,
      prompt: call.prompt,
      promptFile,
      env: { ...env, ...call.env },
      alsoAllowed: await this.allowedMeanwhile(call),
      ...call.extra,
      ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd }),
    });
    return callAgentOnce({
      purpose: call.purpose,
      iteration: call.iteration,
      runId,
      agent: this.agent,
      request,
      limits: config.limits,
      journal,
      workspace: files.workspace,
      rawFile: path.join(
        call.dir,
        calls === 1 ? `${call.streamName}.jsonl` : `${call.streamName}-${calls}.jsonl`,
      ),
      signal: call.skip ? AbortSignal.any([stop.endSignal, call.skip]) : stop.endSignal,
      killSignal: stop.killSignal,
      ready: call.ready,
      onExit: call.onExit,
    });
  }

  /** Only the agents of stories work: the others read, and get no further tools. */
  private async allowedMeanwhile({ purpose }: RepeatedCall): Promise<readonly string[]> {
    const { env, runId } = this.options;
    return purpose === 'story' ? grantedTools(grantedToolsFile(env, process.platform, runId)) : [];
  }

  /** @returns whether a retry makes sense */
  private replaceAgent(iteration: number, reason: Words): boolean {
    const { fallbackAgent, journal } = this.options;
    if (fallbackAgent === undefined || this.agent === fallbackAgent) {
      return false;
    }
    this.startFailures += 1;
    if (this.startFailures >= MAX_START_FAILURES) {
      journal.append({
        type: 'agent.replaced',
        iteration,
        from: this.agent.id,
        to: fallbackAgent.id,
        reason: withTexts(reason, text => text.slice(0, 2_000)),
      });
      this.agent = fallbackAgent;
    }
    return true;
  }
}

/** Result if the call was not made because its budget is used up. */
const NOTHING_LEFT: AgentCallResult = {
  end: { reason: 'exited', durationMs: 0, leftovers: 0, stderr: '' },
  error: { kind: 'budget', message: say('The budget is used up.') },
};

/** Result if the call was not repeated because nothing was left to do after a wait. */
const NOT_WANTED: AgentCallResult = {
  end: { reason: 'cancelled', durationMs: 0, leftovers: 0, stderr: '' },
  notWanted: true,
};

/** The agent request for a call of a run; the options of the call take precedence. */
export function agentRequest(
  { allowedTools, effort, fallbackModel, maxTurnsPerIteration, model }: RunConfig,
  call: Omit<AgentRequest, 'maxTurns'> & Partial<Pick<AgentRequest, 'maxTurns'>>,
): AgentRequest {
  return {
    ...call,
    maxTurns: call.maxTurns ?? maxTurnsPerIteration,
    model: call.model ?? model,
    fallbackModel: call.fallbackModel ?? fallbackModel,
    effort: call.effort ?? effort,
    allowedTools: call.allowedTools ?? allowedTools,
  };
}

/** Never empty: a person who waits for an answer is told why there is none. */
function reasonOf({ message }: { readonly message: Words }, end: AgentCallResult['end']): Words {
  if (message !== '') {
    return message;
  }
  switch (end.reason) {
    case 'hardLimit':
      return say('It took longer than an agent may take.');
    case 'idleLimit':
      return say('It was silent for longer than an agent may be.');
    default:
      return end.signal === undefined
        ? say('exit code {0}', String(end.exitCode ?? '?'))
        : say('ended by {0}', end.signal);
  }
}
