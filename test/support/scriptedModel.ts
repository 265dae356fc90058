import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { cleanEnv } from './cleanEnv.ts';

/** Token counts as the Messages API reports them. */
export interface ModelUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

/** The scripted model's reply in one turn: text, then tool calls. */
export interface ModelReply {
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  readonly usage?: ModelUsage;
}

export interface ModelError {
  readonly error: {
    readonly status: number;
    /** `invalid_request_error`, `rate_limit_error`, `overloaded_error`, … */
    readonly type: string;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/**
 * `drop` cuts the connection in the middle of the stream; `hang` never answers, until the caller or the server exits.
 */
export type Scripted = ModelReply | ModelError | 'drop' | 'hang';

/** The caller's request in one turn, reduced to what scripts depend on. */
export interface ModelTurn {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** Number of tool results in the conversation so far: 0 on the first turn. */
  readonly toolResults: number;
  /** Full text of the newest tool result. */
  readonly lastResult: string;
  /** The person's prompt, without the reminders that the CLI adds around it. */
  readonly prompt: string;
  readonly model: string;
  /** Names of the available tools; none for auxiliary calls such as titles. */
  readonly tools: readonly string[];
}

/** A script may return a promise, so that a test can pause the model and release it. */
export type ModelScript = (turn: ModelTurn) => Scripted | Promise<Scripted>;

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const resultBlock = z.looseObject({ type: z.literal('tool_result'), content: z.unknown() });
const messageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
});
const requestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema),
  system: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});

export type ModelMessage = z.infer<typeof messageSchema>;

/**
 * A Messages API on loopback that answers according to a script, so that the real agent program can be tested with no
 * account and no network. It runs its tools for real.
 */
export class ScriptedModel implements AsyncDisposable {
  readonly url: string;
  /** The prompt of every conversation, in order of their start; a retried first turn adds it again. */
  readonly prompts: string[] = [];
  /** Number of turns that the agent itself requested, including retries; auxiliary calls are counted separately. */
  requests = 0;
  auxiliaryRequests = 0;
  private readonly server: Server;
  private script: ModelScript;
  private calls = 0;

  private constructor(server: Server, script: ModelScript) {
    this.server = server;
    this.script = script;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(script: ModelScript): Promise<ScriptedModel> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const model = new ScriptedModel(server, script);
    server.on('request', (request, response) => {
      model.handle(request, response).catch((error: unknown) => {
        // A script that throws must fail the test through the agent's result, not through a hanging call.
        if (!response.headersSent) {
          sendError(response, {
            status: 400,
            type: 'invalid_request_error',
            message: `script failed: ${error instanceof Error ? error.message : String(error)}`,
          });
        } else response.destroy();
      });
    });
    return model;
  }

  /** Replaces the script from the next turn on. */
  use(script: ModelScript): void {
    this.script = script;
  }

  /**
   * An environment created from scratch, so that no test can use an account of the person who runs it.
   *
   * @param home temporary folder for everything that the CLI and git keep in a home
   */
  env(home: string, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    return cleanEnv({
      home,
      extra: {
        ANTHROPIC_BASE_URL: this.url,
        ANTHROPIC_API_KEY: 'scripted-model-needs-no-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Otherwise tool output would stay in a folder that all users share.
        CLAUDE_CODE_TMPDIR: home,
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        GIT_AUTHOR_NAME: 'Scripted Agent',
        GIT_AUTHOR_EMAIL: 'agent@example.invalid',
        GIT_COMMITTER_NAME: 'Scripted Agent',
        GIT_COMMITTER_EMAIL: 'agent@example.invalid',
        ...extra,
      },
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.url);
    const body = await readBody(request);
    if (request.method === 'POST' && pathname === '/v1/messages/count_tokens') {
      sendJson(response, 200, { input_tokens: Math.ceil(body.length / 4) });
      return;
    }
    if (request.method !== 'POST' || pathname !== '/v1/messages') {
      sendJson(response, 404, {});
      return;
    }
    const asked = requestSchema.parse(JSON.parse(body));
    const turn = describeTurn(asked);
    if (turn.tools.length === 0) {
      // Titles, summaries and quota probes come without tools; they are not passed to the script.
      this.auxiliaryRequests += 1;
      this.stream(response, asked.model, { text: '{"title":"scripted","isNewTopic":false}' });
      return;
    }
    this.requests += 1;
    if (turn.toolResults === 0) this.prompts.push(turn.prompt);
    const reply = await this.script(turn);
    if (response.destroyed || reply === 'hang') return;
    if (reply === 'drop') {
      startStream(response, 'msg_dropped', asked.model, {});
      response.flushHeaders();
      response.write(': cut\n\n', () => response.destroy());
    } else if ('error' in reply) sendError(response, reply.error);
    else this.stream(response, asked.model, reply);
  }

  private stream(response: ServerResponse, model: string, reply: ModelReply): void {
    // Ids must differ between turns: the real API rejects a conversation that repeats one.
    const call = ++this.calls;
    startStream(response, `msg_${call}`, model, reply.usage ?? {});
    let index = 0;
    const block = (start: object, delta: object) => {
      sendEvent(response, { type: 'content_block_start', index, content_block: start });
      sendEvent(response, { type: 'content_block_delta', index, delta });
      sendEvent(response, { type: 'content_block_stop', index });
      index += 1;
    };
    if (reply.text !== undefined) {
      block({ type: 'text', text: '' }, { type: 'text_delta', text: reply.text });
    }
    for (const { name, input } of reply.tools ?? []) {
      block(
        { type: 'tool_use', id: `toolu_${call}_${index}`, name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      );
    }
    sendEvent(response, {
      type: 'message_delta',
      delta: { stop_reason: reply.tools?.length ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: reply.usage?.output_tokens ?? 5 },
    });
    sendEvent(response, { type: 'message_stop' });
    response.end();
  }
}

/** A story for {@link storyScript}. */
export interface ScriptedStory {
  readonly id: string;
  readonly title: string;
}

export interface StoryScriptOptions {
  /** The story that a prompt is about; by default the first known id in the prompt. */
  readonly storyOf?: (prompt: string) => string | undefined;
  /** Shell command of the turn that runs a check; by default a syntax check of the new file. */
  readonly check?: (sourceFile: string) => string;
}

/**
 * A script that acts like a diligent agent on a small project: one story per conversation, one tool call per turn. It
 * reads the story file, writes a source file, runs a check, ticks the story, updates the progress log and commits; with
 * the last story it promises completion.
 */
export function storyScript(
  stories: readonly ScriptedStory[],
  options: StoryScriptOptions = {},
): ModelScript {
  const firstNamed = (prompt: string) =>
    stories
      .map(({ id }) => ({
        id,
        at: prompt.search(new RegExp(`\\b${id.replaceAll(/\\W/g, '\\\\$&')}\\b`)),
      }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0]?.id;
  return turn => {
    const id = (options.storyOf ?? firstNamed)(turn.prompt);
    const story = stories.find(candidate => candidate.id === id);
    if (story === undefined) return { text: 'The prompt names no story that I know.' };
    const prd = /[^\s`'"<>()]*\bprd\.json\b/.exec(turn.prompt)?.[0] ?? '.omc/prd.json';
    const progress =
      /[^\s`'"<>()]*\bprogress\.txt\b/.exec(turn.prompt)?.[0] ??
      prd.replace(/prd\.json$/, 'progress.txt');
    const source = `src/${story.id.toLowerCase()}.mjs`;
    const steps: readonly (() => ModelReply)[] = [
      () => ({
        text: `I begin with ${story.id}.`,
        tools: [{ name: 'Read', input: { file_path: prd } }],
      }),
      () => ({
        tools: [
          {
            name: 'Write',
            input: {
              file_path: source,
              content: `export const title = ${JSON.stringify(story.title)};\n`,
            },
          },
        ],
      }),
      () => bash(options.check?.(source) ?? `node --check ${source} && echo checks passed`),
      () => tick(prd, story.id, turn),
      () =>
        bash(
          `printf '%s\\n' '## ${story.id}' '- ${story.title.replaceAll("'", '’')} is done in ${source}.' >> '${progress}'`,
        ),
      () =>
        bash(`git add -A && git commit -q -m '${commitSubject(story)}' && git log -1 --oneline`),
    ];
    const step = steps[turn.toolResults];
    if (step !== undefined) return step();
    const last = story.id === stories.at(-1)?.id;
    const promise = last ? '\n\n<promise>TASK_COMPLETE</promise>' : '';
    return { text: `${story.id} is done: ${story.title}.${promise}` };
  };
}

/** The commit subject that {@link storyScript} uses. */
export function commitSubject(story: ScriptedStory): string {
  return `feat: ${story.id} - ${story.title}`.replaceAll("'", '’');
}

function bash(command: string): ModelReply {
  return { tools: [{ name: 'Bash', input: { command, description: 'Work on the story' } }] };
}

/** Sets `passes` of one story with the Edit tool, which does not change the rest of the file. */
function tick(prd: string, id: string, turn: ModelTurn): ModelReply {
  const file = resultTexts(turn.messages)[0]?.replaceAll(/^ *\d+[\t→]/gm, '') ?? '';
  const from = file.indexOf(`"${id}"`);
  const target = /"passes":\s*false/g;
  target.lastIndex = Math.max(from, 0);
  const found = from < 0 ? null : target.exec(file);
  if (found === null) return bash(`echo '${id} is not open in ${prd}'`);
  const before = file.slice(from, found.index + found[0].length);
  return {
    tools: [
      {
        name: 'Edit',
        input: {
          file_path: prd,
          old_string: before,
          new_string: before.replace(/false$/, 'true'),
        },
      },
    ],
  };
}

function describeTurn(request: z.infer<typeof requestSchema>): ModelTurn {
  const results = resultTexts(request.messages);
  const system = request.system ?? '';
  return {
    system: typeof system === 'string' ? system : system.map(part => part.text ?? '').join('\n'),
    messages: request.messages,
    toolResults: results.length,
    lastResult: results.at(-1) ?? '',
    prompt: textsOf(request.messages.find(message => message.role === 'user')?.content ?? [])
      .filter(text => !text.trimStart().startsWith('<system-reminder>'))
      .join('\n'),
    model: request.model,
    tools: (request.tools ?? []).map(tool => tool.name),
  };
}

function resultTexts(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [];
    return content.flatMap(block => {
      const result = resultBlock.safeParse(block);
      return result.success ? [textsOf(result.data.content).join('\n')] : [];
    });
  });
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap(block => {
    const text = textBlock.safeParse(block);
    return text.success ? [text.data.text] : [];
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function sendError(response: ServerResponse, error: ModelError['error']): void {
  response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers });
  const { type, message } = error;
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

function startStream(response: ServerResponse, id: string, model: string, usage: ModelUsage): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  sendEvent(response, {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1, ...usage },
    },
  });
}

function sendEvent(
  response: ServerResponse,
  event: { readonly type: string; readonly [field: string]: unknown },
): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
