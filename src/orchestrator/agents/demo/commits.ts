import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProcesses, Exit } from './childProcesses.ts';
import { PlaybackFailed } from './endings.ts';
import { output, type Tools } from './tools.ts';

const OWN_IDENTITY = [
  '-c',
  'user.name=Ralph Fresh demo agent',
  '-c',
  'user.email=demo@ralph-fresh.invalid',
];
const LOCK_RETRIES = 3;
const LOCK_WAIT_MS = 500;

/** The commits of a playback in the project's repository. */
export class Commits {
  readonly #tools: Tools;
  readonly #children: ChildProcesses;
  readonly #signal: AbortSignal;

  constructor(tools: Tools, children: ChildProcesses, signal: AbortSignal) {
    this.#tools = tools;
    this.#children = children;
    this.#signal = signal;
  }

  /** Whether one of the newest commits has this message. */
  async isCommitted(message: string): Promise<boolean> {
    const log = await this.#git(['log', '--format=%s', '--max-count=1000']);
    return log.code === 0 && log.stdout.split(/\r?\n/).includes(message);
  }

  /** Commits only these files, whatever else is changed or staged; nothing if they are already committed. */
  async commit(message: string, files: readonly string[]): Promise<void> {
    if (files.length === 0) {
      return;
    }
    const status = await this.#git(['status', '--porcelain', '--', ...files]);
    if (status.code === 0 && status.stdout === '') {
      return;
    }
    const identity = await this.#identity();
    const list = files.join(' ');
    const shown = [
      'git',
      ...identity.map(quoted),
      'commit',
      '-m',
      quoted(message),
      '--',
      list,
    ].join(' ');
    const exit = await this.#tools.bash(`git add -- ${list} && ${shown}`, async () => {
      const added = await this.#git(['add', '--', ...files]);
      return added.code === 0
        ? this.#git([...identity, 'commit', '-m', message, '--', ...files])
        : added;
    });
    if (exit.code !== 0) {
      throw new PlaybackFailed(
        `The work could not be committed, so the story is not done:\n\n${output(exit)}`,
      );
    }
  }

  /** A person may keep the story file out of git; then it is not committed. */
  async notIgnored(files: readonly string[]): Promise<readonly string[]> {
    const ignored = await this.#git(['check-ignore', '--', ...files]);
    const names = new Set(ignored.stdout.split(/\r?\n/));
    return files.filter(file => !names.has(file));
  }

  async #identity(): Promise<readonly string[]> {
    const name = await this.#git(['config', '--get', 'user.name']);
    const email = await this.#git(['config', '--get', 'user.email']);
    return name.stdout.trim() !== '' && email.stdout.trim() !== '' ? [] : OWN_IDENTITY;
  }

  /** The editor and the loop also use the repository, so it may be locked for a moment. */
  async #git(args: readonly string[]): Promise<Exit> {
    for (let attempt = 1; ; attempt += 1) {
      const exit = await this.#children.run('git', args);
      if (exit.code === 0 || attempt > LOCK_RETRIES || !exit.stderr.includes('index.lock')) {
        return exit;
      }
      await sleep(LOCK_WAIT_MS, undefined, { signal: this.#signal });
    }
  }
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
