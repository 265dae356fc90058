import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { writeDerivedFile } from '../../../base/plainFile.ts';
import { say, type Words, withTexts } from '../../../base/say.ts';
import { waitUntil } from '../../../base/waiting.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RunConfig } from '../../settings/config.ts';
import { grantedTools, grantedToolsFile } from '../../settings/grantedTools.ts';
import type { RunFiles } from '../../workspace/runFiles.ts';
import type { StopSwitch } from '../../workspace/stopSwitch.ts';
import { type Agent, type AgentRequest, isTransient } from '../agent.ts';
import { type AgentCallRequest, type AgentCallResult, callAgentOnce } from './agentCall.ts';
import { type BudgetLedger, LESS_THAN_A_CENT } from './budgetLedger.ts';
import type { CallAgent } from './callAgent.ts';

/** Interval of the countdown events of a usage limit, in ms. */
const COUNTDOWN_MS = 60_000;
/** Longest delay before a retry, in ms. */
const MAX_RETRY_DELAY_MS = 5 * 60_000;
/** Shortest wait, in ms: a limit with a reset that is always near must not cause too many calls. */
const MIN_LIMIT_WAIT_MS = 5_000;
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

export interface PatientCall {
  readonly purpose: 'story' | 'plan' | 'review';
  readonly iteration: number;
  readonly prompt: string;
  /** The agent's working directory, absolute. */
  readonly cwd: string;
  /** Variables in addition to the run's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path of the folder for the call's files. */
  readonly dir: string;
  /** Name of the raw stream's file, without extension. */
  readonly streamName: string;
  /** The prompt's file name. */
  readonly promptName: string;
  /** The first prompt has already been written to that file. */
  readonly isPromptWritten?: boolean;
  /** Options of this call in addition to the run's configuration. */
  readonly extra?: Partial<
    Pick<
      AgentRequest,
      'model' | 'effort' | 'maxTurns' | 'tools' | 'allowedTools' | 'jsonSchema' | 'maxBudgetUsd'
    >
  >;
  /** Whether the requested work is already done; checked before the call is repeated. */
  readonly isDone?: () => Promise<boolean>;
  /** Awaited before an agent is started. If it fails, the call fails. */
  readonly ready?: Promise<unknown>;
  /** See {@link AgentCallRequest.onExit}. */
  readonly onExit?: () => void;
  /** Aborted: end this call; the run continues. */
  readonly skip?: AbortSignal;
  /**
   * Called if a usage limit must be waited for; the function it returns is called after the wait, for an updated
   * prompt. `undefined`: there is nothing left to do for this call.
   */
  readonly onWait?: () => Promise<() => Promise<string | undefined>>;
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
  async call(call: PatientCall): Promise<AgentCallResult> {
    let costUsd = 0;
    const result = await this.callUntilSettled(call, cost => {
      costUsd += cost;
    });
    return costUsd > 0 ? { ...result, costUsd } : result;
  }

  private async callUntilSettled(
    call: PatientCall,
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
      if (await call.isDone?.()) {
        // The call failed after its work was done; a retry would do it twice.
        return result;
      }
      if (error.kind === 'usageLimit' && config.onLimit === 'wait') {
        const afterWait = await call.onWait?.();
        if ((await this.waitForLimit(call, error)) === 'stop') {
          return result;
        }
        const newPrompt = await afterWait?.();
        if (stop.requested || call.skip?.aborted) {
          // Requested in the last moment; only the look at the files noticed it.
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
      if ((await this.waitForRetry(call, error, retries)) === 'stop') {
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
    }: Pick<PatientCall, 'env' | 'skip'> & { readonly cwd?: string } = {},
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
    call: PatientCall,
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
  private async allowedMeanwhile({ purpose }: PatientCall): Promise<readonly string[]> {
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

  private async waitForRetry(
    call: PatientCall,
    error: { readonly kind: string; readonly message: Words },
    attempt: number,
  ): Promise<'time' | 'stop'> {
    const { config, journal, stop } = this.options;
    const delayMs = Math.min(MAX_RETRY_DELAY_MS, config.retryDelayMs * 2 ** (attempt - 1));
    journal.append({
      type: 'call.retried',
      iteration: call.iteration,
      ...purposeOf(call),
      attempt,
      maxAttempts: config.retryAttempts,
      delayMs,
      error: { kind: error.kind, message: error.message },
    });
    const signals = [stop.endSignal, ...(call.skip ? [call.skip] : [])];
    const reason = await waitUntil(Date.now() + delayMs, ...signals);
    return reason === 'time' ? 'time' : 'stop';
  }

  /** Waits until the limit resets, or until a person wants to retry now, with a countdown in the journal. */
  private async waitForLimit(
    call: PatientCall,
    error: { readonly message: Words; readonly resetsAt?: number },
  ): Promise<'continue' | 'stop'> {
    const { config, journal, stop } = this.options;
    const known = error.resetsAt !== undefined && error.resetsAt > Date.now();
    const until =
      known && error.resetsAt
        ? Math.max(error.resetsAt, Date.now() + MIN_LIMIT_WAIT_MS)
        : Date.now() + config.limitRetryMs;
    const resume = this.options.resume();
    const end = [stop.requestedSignal, ...(call.skip ? [call.skip] : [])];
    const about = { iteration: call.iteration, ...purposeOf(call) };
    for (;;) {
      const remainingMs = Math.max(0, until - Date.now());
      journal.append({
        type: 'limit.waiting',
        ...about,
        until: new Date(until).toISOString(),
        remainingMs,
        known,
        message: withTexts(error.message, text => text.slice(0, 1_000)),
      });
      journal.sync();
      const reason = await waitUntil(
        Date.now() + Math.min(remainingMs, COUNTDOWN_MS),
        resume,
        ...end,
      );
      if (reason === 'time' && Date.now() < until) {
        continue;
      }
      const isOver = end.some(signal => signal.aborted);
      const isStop = stop.requested;
      const by = isStop ? 'stop' : isOver || resume.aborted ? 'person' : 'time';
      journal.append({ type: 'limit.ended', ...about, by });
      return isOver ? 'stop' : 'continue';
    }
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

function purposeOf({ purpose }: PatientCall): { purpose?: 'plan' | 'review' } {
  return purpose === 'story' ? {} : { purpose };
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
