import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent, AgentErrorKind, AgentEvent } from './agents/agent.ts';
import { type AgentEnd, runAgentProcess } from './agents/agentProcess.ts';
import type { RunConfig } from './config.ts';
import { HumanError } from './humanError.ts';
import { whole } from './numbers.ts';
import type { JournalWriter } from './run/journal.ts';
import type { RunFiles } from './run/runFiles.ts';
import { shorten, shortenBlock } from './text.ts';

/** Longest text of one event in the journal, in UTF-16 units; the raw stream has the rest. */
const MAX_TEXT = 4_000;
/** Longest name, id or gist in the journal, in UTF-16 units. */
const MAX_FACT = 300;
/** Lines outside the agent's protocol that go into the journal; a program gone wild stays in the raw stream. */
const MAX_OUTPUT_LINES = 50;

export interface IterationRequest {
  readonly number: number;
  readonly runId: string;
  readonly prompt: string;
  readonly agent: Agent;
  readonly config: RunConfig;
  readonly files: RunFiles;
  readonly journal: JournalWriter;
  /** Aborted: end the agent, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end the agent with SIGKILL. */
  readonly killSignal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What one fresh agent's process came to, before the files are looked at. */
export interface IterationResult {
  readonly end: AgentEnd;
  /** The call failed, by its own result, its exit code, or a limit. */
  readonly error?: { readonly kind: AgentErrorKind | AgentEnd['reason']; readonly message: string };
}

/**
 * One fresh agent from prompt to end: keeps the prompt, starts the process, writes what it does into the
 * journal as it happens. Whether the story is done is not its business.
 */
export async function runIteration(request: IterationRequest): Promise<IterationResult> {
  const { agent, config, files, journal, number, prompt, runId } = request;
  const dir = files.iterationDir(runId, number);
  await mkdir(dir, { recursive: true });
  await Promise.all([
    writeFile(path.join(dir, 'prompt.md'), prompt),
    writeFile(files.promptFile, prompt),
  ]);

  let end: AgentEnd;
  try {
    const command = await agent.command({
      cwd: files.workspace,
      prompt,
      ...(config.model === undefined ? {} : { model: config.model }),
      maxTurns: config.maxTurnsPerIteration,
      env: request.env,
    });
    end = await runAgentProcess(agent, command, {
      cwd: files.workspace,
      runId,
      limits: config.limits,
      signal: request.signal,
      killSignal: request.killSignal,
      rawFile: path.join(dir, 'stream.jsonl'),
      onStarted: identity =>
        void journal.append({ type: 'agent.started', iteration: number, ...identity }),
      onEvent: journalWriterFor(journal),
    });
  } catch (error) {
    if (!(error instanceof HumanError)) {
      throw error;
    }
    end = { reason: 'notStarted', durationMs: 0, leftovers: 0, stderr: error.message };
  }
  const error = errorOf(end);
  journal.append({
    type: 'agent.ended',
    iteration: number,
    reason: end.reason,
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    durationMs: Math.round(end.durationMs),
    leftovers: end.leftovers,
    ...(error === undefined ? {} : { error }),
  });
  return { end, ...(error === undefined ? {} : { error }) };
}

function errorOf(end: AgentEnd): IterationResult['error'] {
  switch (end.reason) {
    case 'cancelled':
      return undefined;
    case 'hardLimit':
    case 'idleLimit':
      return { kind: end.reason, message: lastWords(end) };
    case 'notStarted':
      return { kind: end.reason, message: lastWords(end) };
    case 'exited':
    case 'lingered': {
      if (end.result?.isError) {
        const { kind = 'other', message = end.result.text } = end.result.error ?? {};
        return { kind, message: shortenBlock(message, MAX_TEXT) };
      }
      if (end.result === undefined || (end.reason === 'exited' && end.exitCode !== 0)) {
        return { kind: 'other', message: lastWords(end) };
      }
      return undefined;
    }
  }
}

function lastWords(end: AgentEnd): string {
  return shortenBlock(end.stderr, MAX_TEXT);
}

/** Turns an agent's events into the journal's; bounded, whatever the agent prints. */
function journalWriterFor(journal: JournalWriter): (event: AgentEvent) => void {
  let outputLines = 0;
  return event => {
    switch (event.type) {
      case 'init': {
        const { model, version, apiKeySource, sessionId } = event;
        const facts = { model, version, apiKeySource, sessionId };
        journal.append({ type: 'agent.init', ...shortFacts(facts) });
        break;
      }
      case 'text':
        if (event.text.trim() !== '') {
          journal.append({ type: 'agent.text', ...cut(event.text) });
        }
        break;
      case 'tool':
        journal.append({
          type: 'agent.tool',
          id: fact(event.id),
          name: fact(event.name),
          gist: fact(event.gist),
        });
        break;
      case 'toolResult':
        if (event.isError) {
          journal.append({ type: 'agent.toolFailed', id: fact(event.id), gist: fact(event.gist) });
        }
        break;
      case 'retry': {
        journal.append({
          type: 'agent.retry',
          attempt: whole(event.attempt),
          maxAttempts: whole(event.maxAttempts),
          delayMs: whole(event.delayMs),
          ...(event.status === undefined ? {} : { status: whole(event.status) }),
          error: fact(event.error),
        });
        break;
      }
      case 'denied':
        journal.append({
          type: 'agent.denied',
          tool: fact(event.tool),
          message: fact(event.message),
        });
        break;
      case 'unknown':
        outputLines += 1;
        if (outputLines <= MAX_OUTPUT_LINES) {
          journal.append({ type: 'agent.output', ...cut(event.line) });
        }
        break;
      case 'activity':
      case 'result':
        // A result's facts go into iteration.ended, with what the files say beside them.
        break;
    }
  };
}

function fact(text: string): string {
  return shorten(text, MAX_FACT);
}

function shortFacts<K extends string>(
  facts: Readonly<Record<K, string | undefined>>,
): { [P in K]?: string } {
  const short: { [P in K]?: string } = {};
  for (const key in facts) {
    const value = facts[key];
    if (value !== undefined) {
      short[key] = fact(value);
    }
  }
  return short;
}

function cut(text: string): { text: string; cut?: number } {
  const kept = shortenBlock(text, MAX_TEXT);
  return text.length <= MAX_TEXT ? { text: kept } : { text: kept, cut: text.length - kept.length };
}
