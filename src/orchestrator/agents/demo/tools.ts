import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './childProcesses.ts';
import { NeedsHuman } from './endings.ts';
import { readIfThere, writeWhole } from './sampleFiles.ts';
import type { Transcript } from './transcript.ts';

const MAX_SHOWN = 4000;

export interface ToolOptions {
  readonly cwd: string;
  readonly transcript: Transcript;
  readonly signal: AbortSignal;
  /** Pause in ms before each step, so that a person can follow. */
  readonly paceMs: number;
}

/** The agent's actions, shown in its transcript like Claude Code's own tools. */
export class Tools {
  readonly #options: ToolOptions;

  constructor(options: ToolOptions) {
    this.#options = options;
  }

  /** @param run runs the command if it is more than one program */
  async bash(command: string, run: () => Promise<Exit>): Promise<Exit> {
    await this.pause();
    const id = this.#options.transcript.toolUse('Bash', { command });
    const exit = await run();
    const { stdout, stderr } = exit;
    // Claude Code's own Bash tool starts a failed command's output in the same way.
    const shown = exit.code === 0 ? output(exit) : `Exit code ${exit.code}\n${output(exit)}`;
    this.#options.transcript.toolResult(id, shown, exit.code !== 0, {
      stdout: tail(stdout),
      stderr: tail(stderr),
      interrupted: false,
    });
    return exit;
  }

  /** Reads a file. @returns its content */
  async read(file: string): Promise<string> {
    await this.pause();
    const id = this.#options.transcript.toolUse('Read', { file_path: this.absolute(file) });
    const content = await this.contentOf(file);
    const numbered = content
      .split(/\r?\n/)
      .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
      .join('\n');
    this.#options.transcript.toolResult(id, numbered, false);
    return content;
  }

  /** Writes a whole file. @param anchor text before the change that makes the replaced part unique */
  async write(file: string, content: string, anchor?: string): Promise<void> {
    await this.pause();
    const file_path = this.absolute(file);
    const before = await readIfThere(file_path);
    const id =
      before === undefined
        ? this.#options.transcript.toolUse('Write', { file_path, content })
        : this.#options.transcript.toolUse('Edit', {
            file_path,
            ...changedPart(before, content, anchor),
          });
    await writeWhole(file_path, content);
    const said = before === undefined ? 'File created successfully at' : 'Updated the file';
    this.#options.transcript.toolResult(id, `${said} ${file_path}`, false);
  }

  /** Prints text between two tools. */
  async say(text: string): Promise<void> {
    await this.pause();
    this.#options.transcript.say(text);
  }

  /** Waits, so that a person can follow. */
  async pause(): Promise<void> {
    await sleep(this.#options.paceMs, undefined, { signal: this.#options.signal });
  }

  /** The current content of a file. @throws {NeedsHuman} if it is gone */
  async contentOf(file: string): Promise<string> {
    const content = await readIfThere(this.absolute(file));
    if (content === undefined) {
      throw new NeedsHuman(`${file} is gone. Restore it with git and run again.`);
    }
    return content;
  }

  /** The absolute path of a project file. */
  absolute(file: string): string {
    return path.join(this.#options.cwd, file);
  }
}

/** The end of a command's output. */
export function output({ stdout, stderr }: Exit): string {
  return tail([stdout.trim(), stderr.trim()].filter(text => text !== '').join('\n'));
}

function tail(text: string): string {
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}

/** The text of an Edit: the lines that differ, with the line before them if nothing is replaced. */
function changedPart(
  before: string,
  after: string,
  anchor: string | undefined,
): { readonly old_string: string; readonly new_string: string } {
  const old = before.split('\n');
  const fresh = after.split('\n');
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) {
    start += 1;
  }
  let same = 0;
  while (
    same < Math.min(old.length, fresh.length) - start &&
    old[old.length - 1 - same] === fresh[fresh.length - 1 - same]
  ) {
    same += 1;
  }
  if (anchor !== undefined) {
    while (start > 0 && !old[start]?.includes(anchor)) {
      start -= 1;
    }
  } else if (start > 0 && start === old.length - same) {
    start -= 1;
  }
  return {
    old_string: old.slice(start, old.length - same).join('\n'),
    new_string: fresh.slice(start, fresh.length - same).join('\n'),
  };
}
