import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { say } from '../../src/base/say.ts';
import type { AgentEvent, AgentRequest } from '../../src/orchestrator/agents/agent.ts';
import { type AgentEnd, runAgentProcess } from '../../src/orchestrator/agents/call/agentProcess.ts';
import {
  type CommandOptions,
  commandAgent,
  commandArgs,
} from '../../src/orchestrator/agents/command/command.ts';
import {
  COMMAND_PRESETS,
  commandPreset,
} from '../../src/orchestrator/agents/command/commandPresets.ts';
import { DEFAULT_LIMITS } from '../../src/orchestrator/process/processLimits.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';

const posix = { skip: process.platform === 'win32' };
const base: AgentRequest = { cwd: '/todo', prompt: 'Work on {model}.', maxTurns: 1, env: {} };

function argsFor(
  args: readonly string[],
  more: Partial<AgentRequest> = {},
  promptVia: CommandOptions['promptVia'] = 'stdin',
): string[] {
  return commandArgs({ command: 'x', args, promptVia }, { ...base, ...more });
}

describe('the environment', () => {
  it('contains the API keys, unless they must be removed', async () => {
    await using home = await tempDir('command-agent-');
    const keys = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_AUTH_TOKEN: 't' };
    const env = cleanEnv({ home: home.path, extra: keys });
    const environment = async (removeApiKey: boolean) => {
      const agent = commandAgent({ command: 'git', args: [], promptVia: 'stdin', removeApiKey });
      return (await agent.command({ ...base, env })).env;
    };
    const kept = await environment(false);
    assert.deepEqual([kept['ANTHROPIC_API_KEY'], kept['ANTHROPIC_AUTH_TOKEN']], ['k', 't']);
    const removed = await environment(true);
    assert.equal('ANTHROPIC_API_KEY' in removed || 'ANTHROPIC_AUTH_TOKEN' in removed, false);
    assert.equal(removed['PATH'], kept['PATH']);
  });
});

describe('commandArgs', () => {
  it('omits arguments that need a model if none is set', () => {
    const args = ['run', '--fast', '--model', '{model}', '-m={model}', '-'];
    assert.deepEqual(argsFor(args), ['run', '--fast', '-']);
    assert.deepEqual(argsFor(args, { model: 'big' }), [
      'run',
      '--fast',
      '--model',
      'big',
      '-m=big',
      '-',
    ]);
    assert.deepEqual(argsFor(['-c', 'model={model}', '--quiet']), ['--quiet']);
    assert.deepEqual(argsFor(['--quiet', '--model={model}']), ['--quiet']);
  });

  it('puts the prompt in its placeholder, otherwise at the end', () => {
    const promptFile = '/todo/p.txt';
    assert.deepEqual(argsFor(['-x'], {}, 'argument'), ['-x', base.prompt]);
    assert.deepEqual(argsFor(['-p={prompt}', '-q'], {}, 'argument'), [`-p=${base.prompt}`, '-q']);
    assert.deepEqual(argsFor(['-f'], { promptFile }, 'file'), ['-f', promptFile]);
    assert.deepEqual(argsFor(['-f', '{promptFile}', '-q'], { promptFile }, 'file'), [
      '-f',
      promptFile,
      '-q',
    ]);
    assert.deepEqual(argsFor(['-'], { promptFile }), ['-']);
  });

  it('does not replace placeholders inside the prompt', () => {
    const prompt = '{promptFile} {model} $& {prompt}';
    assert.deepEqual(argsFor(['{prompt}'], { prompt, model: 'big' }, 'argument'), [prompt]);
  });
});

describe('the presets', () => {
  it('read the prompt from standard input', () => {
    for (const name of COMMAND_PRESETS) {
      assert.equal(commandPreset(name).promptVia, 'stdin');
      assert.equal(commandPreset(name).command, name);
    }
  });

  it('skip permissions only on request', () => {
    const skipping = /dangerous|yolo|--auto$|full-access/;
    for (const name of COMMAND_PRESETS) {
      assert.ok(!commandPreset(name).args.some(arg => skipping.test(arg)), name);
      assert.ok(
        commandPreset(name, { skipPermissions: true }).args.some(arg => skipping.test(arg)),
      );
    }
  });

  it('name a model only if one is set', () => {
    for (const name of COMMAND_PRESETS) {
      const args = commandArgs(commandPreset(name), base);
      assert.ok(!args.some(arg => arg.includes('model')), name);
    }
    assert.deepEqual(commandArgs(commandPreset('codex'), { ...base, model: 'gpt' }), [
      'exec',
      '--sandbox',
      'workspace-write',
      '--model',
      'gpt',
      '-',
    ]);
  });
});

// The limit only ends a hanging run; no test measures time.
describe('the command agent', posix, () => {
  let temp: TempDir;
  let env: Record<string, string>;
  const inTemp = (name: string) => path.join(temp.path, name);

  beforeEach(async () => {
    temp = await tempDir('command-agent-');
    env = cleanEnv({ home: temp.path, path: [temp.path] });
  });
  afterEach(() => temp.remove());

  interface Session extends AgentEnd {
    readonly events: readonly AgentEvent[];
  }

  async function run(
    script: string,
    options: Partial<CommandOptions> = {},
    request: Partial<AgentRequest> = {},
  ): Promise<Session> {
    await writeFile(inTemp('my-agent'), `#!/bin/sh\n${script}\n`);
    await chmod(inTemp('my-agent'), 0o755);
    const agent = commandAgent({ command: 'my-agent', args: [], promptVia: 'stdin', ...options });
    const command = await agent.command({ ...base, cwd: temp.path, env, ...request });
    const events: AgentEvent[] = [];
    const end = await runAgentProcess(agent, command, {
      cwd: temp.path,
      runId: `test-${process.pid}`,
      limits: DEFAULT_LIMITS,
      signal: new AbortController().signal,
      killSignal: new AbortController().signal,
      rawFile: inTemp('raw.txt'),
      record: { started: () => undefined, take: event => events.push(event) },
    });
    return { ...end, events };
  }

  it('takes its output as the answer', async () => {
    const { reason, exitCode, result, events } = await run(
      `cat; printf '\\n\\n\\033[1mDone.\\033[0m\\n<promise>TASK_COMPLETE</promise>'`,
    );
    assert.deepEqual([reason, exitCode, result?.isError], ['exited', 0, false]);
    assert.equal(result?.text, `${base.prompt}\n\nDone.\n<promise>TASK_COMPLETE</promise>`);
    assert.deepEqual(
      events.map(event => (event.type === 'text' ? event.text : event.type)),
      [base.prompt, 'activity', 'Done.', '<promise>TASK_COMPLETE</promise>', 'result'],
    );
    assert.ok((await readFile(inTemp('raw.txt'), 'utf8')).includes('\u001b[1mDone'));
  });

  it('keeps the end of a long answer', async () => {
    const { result } = await run(
      'i=0; while [ $i -lt 4000 ]; do echo "line $i of a very long and rather boring answer"; i=$((i+1)); done; echo last',
    );
    assert.ok((result?.text.length ?? 0) <= 64 * 1024);
    assert.match(result?.text ?? '', /line 3999 [^\n]*\nlast$/);
  });

  it('passes the prompt as a file or as an argument', async () => {
    const promptFile = inTemp('prompt.txt');
    await writeFile(promptFile, 'from the file');
    const script = 'printf "%s|" "$@"; printf "stdin:"; cat';
    const file = await run(script, { promptVia: 'file', args: ['-f'] }, { promptFile });
    assert.equal(file.result?.text, `-f|${promptFile}|stdin:`);
    const prompt = 'one; two $(three) `four` "five"\nsix';
    const argument = await run(script, { promptVia: 'argument', args: ['-x'] }, { prompt });
    assert.equal(argument.result?.text, `-x|${prompt}|stdin:`);
  });

  it('recognizes a failure by the exit code and keeps the last output', async () => {
    const { exitCode, result } = await run('echo working; echo "cannot go on" >&2; exit 3');
    assert.equal(exitCode, 3);
    assert.equal(result?.isError, true);
    assert.deepEqual(result?.error, { kind: 'other', message: 'cannot go on' });
    assert.equal(result?.text, 'working');
    const silent = await run('exit 4');
    assert.deepEqual(silent.result?.error, { kind: 'other', message: say('exit code {0}', '4') });
    const killed = await run('kill -KILL $$');
    assert.deepEqual(killed.result?.error, {
      kind: 'other',
      message: say('ended by {0}', 'SIGKILL'),
    });
  });

  const causes = [
    ['Error: Not logged in. Please run `codex login`', 'authentication'],
    ['ERROR: unexpected status 401 Unauthorized', 'authentication'],
    ['Please set an Auth method in your settings.json', 'authentication'],
    ["You've hit your usage limit. Try again later.", 'usageLimit'],
    ['insufficient_quota', 'billing'],
    ['unexpected status 429 Too Many Requests', 'rateLimit'],
    ['stream disconnected before completion: timeout', 'api'],
    ['connect ECONNREFUSED 10.0.0.1:443', 'api'],
    ['TypeError: the login page is broken', 'other'],
  ] as const;
  for (const [words, kind] of causes) {
    it(`recognizes “${words}” as ${kind}`, async () => {
      const { result } = await run(`cat >&2 <<'EOF'\n${words}\nEOF\nexit 1`);
      assert.equal(result?.error?.kind, kind);
      assert.equal(result?.error?.message, words);
    });
  }

  it('reads a limit and its end from failed calls only', async () => {
    const words = `echo "You've hit your usage limit. Try again in 2 hours."`;
    const before = Date.now();
    const { result } = await run(`${words}; exit 1`);
    assert.equal(result?.error?.kind, 'usageLimit');
    const wait = (result?.error?.resetsAt ?? 0) - before;
    assert.ok(wait >= 2 * 3_600_000 && wait < 3 * 3_600_000, String(wait));
    assert.equal((await run(words)).result?.error, undefined);
  });

  it('has no result if it was ended from outside', async () => {
    const stop = new AbortController();
    const agent = commandAgent({
      command: '/bin/sh',
      args: ['-c', 'echo up; exec sleep 600'],
      promptVia: 'stdin',
    });
    const command = await agent.command({ ...base, cwd: temp.path, env });
    const end = await runAgentProcess(agent, command, {
      cwd: temp.path,
      runId: `test-${process.pid}`,
      limits: DEFAULT_LIMITS,
      signal: stop.signal,
      killSignal: new AbortController().signal,
      rawFile: inTemp('raw.txt'),
      record: { started: () => undefined, take: () => stop.abort() },
    });
    assert.deepEqual([end.reason, end.result], ['cancelled', undefined]);
  });

  it('reports what to fix before anything starts', async () => {
    const command = (options: Partial<CommandOptions>, prompt = 'x') =>
      commandAgent({ command: 'no-such-agent', args: [], promptVia: 'stdin', ...options }).command({
        ...base,
        cwd: temp.path,
        env,
        prompt,
      });
    const human = (message: RegExp) => ({ name: 'HumanError', message });
    await assert.rejects(command({}), human(/^no-such-agent was not found on PATH.*full path/));
    await assert.rejects(command({ command: ' ' }), human(/no command is set/));
    for (const withArguments of ['sh -c run.sh', '/bin/sh -c run.sh']) {
      await assert.rejects(
        command({ command: withArguments }),
        human(
          /no program ".*sh -c run\.sh", but .*: --command \S*sh --command-arg -c --command-arg run\.sh$/,
        ),
      );
    }
    // As the command line passes `--command "sh ./run.sh"`.
    await assert.rejects(
      command({ command: path.resolve(temp.path, 'sh ./run.sh') }),
      human(
        /^There is no program "sh \.\/run\.sh", but there is sh\. .*: --command sh --command-arg \.\/run\.sh$/,
      ),
    );
    // Also in a folder with a space, for programs to search for and those of the folder.
    const folder = inTemp('my proj');
    await mkdir(folder);
    const own = path.join(folder, 'tool');
    await writeFile(own, '#!/bin/sh\n');
    await chmod(own, 0o755);
    for (const [flag, program] of [
      ['sh ./run.sh', 'sh'],
      ['./tool ./run.sh', './tool'],
    ] as const) {
      await assert.rejects(
        commandAgent({
          ...{ command: path.resolve(folder, flag), args: [], promptVia: 'stdin' },
        }).command({ ...base, cwd: folder, env }),
        ({ message }: Error) =>
          message.endsWith(
            `but there is ${program}. Give its arguments one by one: --command ${program} --command-arg ./run.sh`,
          ),
        flag,
      );
    }
    await assert.rejects(
      command({ command: 'no-such-agent x' }),
      human(/^no-such-agent x was not/),
    );
    await assert.rejects(
      command({ command: './gone' }),
      human(/gone", set as the agent's command/),
    );
    await assert.rejects(
      command({ command: '/bin/sh', promptVia: 'argument' }, 'x'.repeat(200_000)),
      human(/too long for an argument/),
    );
    await assert.rejects(
      command({ command: '/bin/sh', promptVia: 'argument' }, 'a\0b'),
      human(/null character/),
    );
  });
});
