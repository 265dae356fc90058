import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

import { builtCli } from './builtCli.ts';
import { fakeAgent, until, type Workspace } from './ralph.ts';

const CLI = builtCli();

/** `ralph-fresh` in a terminal of its own, with `script` of util-linux; typed text is echoed. */
export class Terminal {
  readonly finished: Promise<number | null>;
  private readonly child: ChildProcess;
  private text = '';

  private constructor(command: string, cwd: string, env: Record<string, string>) {
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      ...{ cwd, env, stdio: ['pipe', 'pipe', 'inherit'], detached: true },
    });
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
    });
    this.finished = once(child, 'close').then(([code]) => code);
    // Reported where it is awaited; a missing program fails the test there.
    this.finished.catch(() => undefined);
  }

  /** Starts any command. */
  static cli(t: TestContext, workspace: Workspace, ...args: readonly string[]): Terminal {
    return Terminal.start(t, workspace, {}, args);
  }

  /** Starts a run with a fake agent. */
  static run(
    t: TestContext,
    workspace: Workspace,
    fake: string,
    env: Readonly<Record<string, string>> = {},
    ...args: readonly string[]
  ): Terminal {
    const command = ['run', '--agent', 'claude', '--claude-path', fakeAgent(fake), ...args];
    return Terminal.start(t, workspace, env, command);
  }

  private static start(
    t: TestContext,
    workspace: Workspace,
    env: Readonly<Record<string, string>>,
    args: readonly string[],
  ): Terminal {
    const command = [process.execPath, '--disable-warning=ExperimentalWarning', CLI, ...args];
    const terminal = new Terminal(command.map(quoted).join(' '), workspace.folder, {
      ...{ ...workspace.env, SHELL: '/bin/sh', TERM: 'xterm', ...env },
    });
    // Ending the terminal ends the programs in it.
    t.after(() => terminal.child.kill('SIGKILL'));
    return terminal;
  }

  /** Its output, without cursor movements. */
  get output(): string {
    return stripVTControlCharacters(this.text);
  }

  /** Waits until the program has printed it. */
  async shows(words: RegExp): Promise<void> {
    await until(`${words} in the terminal`, () => words.test(this.output));
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** Closes the terminal's input. */
  hangUp(): void {
    this.child.stdin?.end();
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
