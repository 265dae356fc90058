import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

/** Size limit for build files, in bytes. */
const MAX_FILE = 1024 * 1024;

/** The files of a workspace's top folder, for the proposals. */
export class ProjectFiles {
  private readonly dir: string;
  readonly names: ReadonlySet<string>;
  readonly isWindows: boolean;

  constructor(dir: string, names: Iterable<string>, platform: NodeJS.Platform) {
    this.dir = dir;
    this.names = new Set(names);
    this.isWindows = platform === 'win32';
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  first(names: readonly string[]): string | undefined {
    return names.find(name => this.names.has(name));
  }

  /** @returns '' if there is no such file, or it cannot be read */
  async text(name: string | undefined): Promise<string> {
    return name !== undefined && this.has(name) ? readBounded(path.join(this.dir, name)) : '';
  }

  /** A program of the project itself, in the syntax of the platform's shell. */
  own(program: string, windowsName: string): string {
    return this.isWindows ? windowsName : `./${program}`;
  }
}

/** @returns '' if it is not a plain file, too large, or cannot be read: a proposal is not worth an error */
async function readBounded(file: string): Promise<string> {
  try {
    // Opening a named pipe would wait for a writer forever; Windows has no such flag.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size > 0 && stats.size <= MAX_FILE
        ? (await handle.readFile('utf8')).replace(/^\uFEFF/, '')
        : '';
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}
