import { randomUUID } from 'node:crypto';

/** Thrown if another turn would exceed the limit. */
export class TurnLimitReached extends Error {}

const NO_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};

/** Prints a session in the format of `claude -p --output-format stream-json --verbose`. */
export class Transcript {
  readonly #sessionId = randomUUID();
  readonly #startedAt = performance.now();
  readonly #cwd: string;
  readonly #maxTurns: number;
  readonly #print: (line: string) => void;
  #turns = 0;

  constructor(cwd: string, maxTurns: number, print: (line: string) => void) {
    this.#cwd = cwd;
    this.#maxTurns = maxTurns;
    this.#print = print;
  }

  init(): void {
    this.#emit({
      type: 'system',
      subtype: 'init',
      cwd: this.#cwd,
      tools: ['Bash', 'Edit', 'Read', 'Write'],
      mcp_servers: [],
      model: 'demo',
      permissionMode: 'default',
      apiKeySource: 'none',
      claude_code_version: 'demo',
    });
  }

  say(text: string): void {
    this.#assistant({ type: 'text', text });
  }

  /** @returns the id to pass to {@link toolResult} */
  toolUse(
    name: 'Bash' | 'Edit' | 'Read' | 'Write',
    input: Readonly<Record<string, string>>,
  ): string {
    if (this.#turns >= this.#maxTurns) {
      throw new TurnLimitReached();
    }
    this.#turns += 1;
    const id = `toolu_demo_${randomUUID().replaceAll('-', '')}`;
    this.#assistant({ type: 'tool_use', id, name, input });
    return id;
  }

  toolResult(id: string, content: string, isError: boolean, detail?: unknown): void {
    const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
    this.#emit({
      type: 'user',
      message: { role: 'user', content: [block] },
      parent_tool_use_id: null,
      tool_use_result: detail,
    });
  }

  result(text: string): void {
    this.say(text);
    this.#turns += 1;
    this.#end({
      subtype: 'success',
      is_error: false,
      result: text,
      terminal_reason: 'completed',
    });
  }

  failure(text: string): void {
    this.#end({
      subtype: 'error_during_execution',
      is_error: true,
      result: text,
      errors: [text],
      terminal_reason: 'error',
    });
  }

  turnLimit(): void {
    this.#end({
      subtype: 'error_max_turns',
      is_error: true,
      errors: [`Reached maximum number of turns (${this.#maxTurns})`],
      terminal_reason: 'max_turns',
    });
  }

  #end(ending: Readonly<Record<string, unknown>>): void {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#emit({
      type: 'result',
      ...ending,
      duration_ms: durationMs,
      duration_api_ms: 0,
      num_turns: this.#turns,
      total_cost_usd: 0,
      usage: NO_USAGE,
      modelUsage: {},
      permission_denials: [],
    });
  }

  #assistant(block: Readonly<Record<string, unknown>>): void {
    this.#emit({
      type: 'assistant',
      message: {
        id: `msg_demo_${randomUUID().replaceAll('-', '')}`,
        type: 'message',
        role: 'assistant',
        model: 'demo',
        content: [block],
        stop_reason: null,
        stop_sequence: null,
        usage: NO_USAGE,
      },
      parent_tool_use_id: null,
    });
  }

  #emit(event: Readonly<Record<string, unknown>>): void {
    this.#print(JSON.stringify({ ...event, session_id: this.#sessionId, uuid: randomUUID() }));
  }
}
