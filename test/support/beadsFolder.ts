import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** An issue of Beads as its file has it. */
export type BeadsIssue = Readonly<Record<string, unknown>> & { readonly id: string };

/** A folder with Beads issues, and a stand-in for `bd` with its recorded behavior (test/support/fakeTrackers/bd.mjs). */
export class BeadsFolder {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Writes the file and, if wanted, the stand-in's database with the same issues. */
  async write(issues: readonly BeadsIssue[], options: { readonly database: boolean }) {
    await mkdir(path.join(this.folder, '.beads'), { recursive: true });
    const lines = issues.map(issue => JSON.stringify(issue));
    await writeFile(this.file('issues.jsonl'), `${lines.join('\n')}\n`);
    if (options.database) {
      await writeFile(this.file('beads.db'), JSON.stringify(issues));
      await writeFile(this.file('.gitignore'), '*.db\ncalls.jsonl\n');
    }
  }

  /** Statuses by id, as the file has them. */
  async inFile(): Promise<Record<string, unknown>> {
    const text = await readFile(this.file('issues.jsonl'), 'utf8');
    const issues = text.trim().split('\n').map(parseIssue);
    return Object.fromEntries(issues.map(({ id, status }) => [id, status]));
  }

  async inDatabase(): Promise<readonly BeadsIssue[]> {
    return JSON.parse(await readFile(this.file('beads.db'), 'utf8'));
  }

  /** What `bd` was called with, without the names of the environment. */
  async calls(): Promise<readonly string[]> {
    return (await this.rawCalls()).map(({ args, command }) => [command, ...args].join(' '));
  }

  async rawCalls(): Promise<
    readonly {
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: readonly string[];
    }[]
  > {
    const text = await readFile(this.file('calls.jsonl'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line));
  }

  /** The pid of the process that `bd` has left running. */
  async left(): Promise<number> {
    return Number(await readFile(this.file('left'), 'utf8'));
  }

  private file(name: string): string {
    return path.join(this.folder, '.beads', name);
  }
}

function parseIssue(line: string): BeadsIssue {
  return JSON.parse(line);
}

/** Installs the stand-in as `bd`. @returns the folder for the PATH */
export async function installFakeBd(folder: string): Promise<string> {
  const bin = path.join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  const program = path.join(import.meta.dirname, 'fakeTrackers', 'bd.mjs');
  if (process.platform === 'win32') {
    await writeFile(path.join(bin, 'bd.cmd'), `@node "${program}" %*\r\n`);
  } else {
    await writeFile(path.join(bin, 'bd'), `#!/bin/sh\nexec node "${program}" "$@"\n`, {
      mode: 0o755,
    });
  }
  return bin;
}
