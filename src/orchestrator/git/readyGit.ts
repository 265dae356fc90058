import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { answerInTime } from './gitPatience.ts';

/** The shell gets the folder as $0: whoever works meanwhile may put another one in its place. */
const WAIT_THEN_ASK = 'read -r go && cd -- "$0" && exec git "$@"';

/**
 * A question to git that is ready to be asked: a shell that becomes git when it is told to, and ends when this process
 * does. To start a process is more than half of what a question costs, and that part can come earlier, while nobody waits.
 * Not on Windows, which has no such shell.
 */
export class ReadyGit {
  private readonly shell: ChildProcessWithoutNullStreams;
  private isGone = false;

  /** @param env the whole environment */
  constructor(dir: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.shell = spawn('/bin/sh', ['-c', WAIT_THEN_ASK, dir, ...args], { cwd: dir, env });
    const onGone = () => {
      this.isGone = true;
    };
    this.shell.once('error', onGone).once('close', onGone);
    // It is gone then, which shows above.
    this.shell.stdin?.on('error', () => undefined);
  }

  /**
   * Asks, once.
   * @returns what git printed; `undefined` when it has to be asked in another way, which tells why
   * @throws {HumanError} when git gave no answer
   */
  async ask(): Promise<string | undefined> {
    const { shell } = this;
    if (this.isGone || shell.pid === undefined) {
      return undefined;
    }
    const chunks: Buffer[] = [];
    shell.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    shell.stderr.resume();
    const closed = once(shell, 'close');
    shell.stdin.end('go\n');
    const [code] = await answerInTime(shell, 'status', closed);
    return code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined;
  }

  /** Nobody will ask. */
  dispose(): void {
    // With nothing to read the shell ends.
    this.shell.stdin?.destroy();
    this.shell.stdout?.destroy();
    this.shell.stderr?.destroy();
  }
}
