import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cleanEnv } from './cleanEnv.ts';

const run = promisify(execFile);

/** The test's folders. A function, since each test has its own. */
type Place = () => { readonly folder: string; readonly home: string };

/** A person's work in a repository. File names are relative to its folder. */
export interface GitFolder {
  /** @returns git's output, trimmed */
  git(...args: readonly string[]): Promise<string>;
  write(file: string, content: string | Buffer): Promise<void>;
  read(file: string): Promise<string>;
  /** Commits all changes, even if there are none. @returns the commit */
  commit(message?: string): Promise<string>;
  head(): Promise<string>;
}

export function gitFolder(place: Place): GitFolder {
  const at = (file: string) => path.join(place().folder, file);
  const git: GitFolder['git'] = async (...args) => {
    const { folder, home } = place();
    const { stdout } = await run('git', [...args], { cwd: folder, env: cleanEnv({ home }) });
    return stdout.trim();
  };
  const head = () => git('rev-parse', 'HEAD');
  return {
    git,
    head,
    read: file => readFile(at(file), 'utf8'),
    async write(file, content) {
      await mkdir(path.dirname(at(file)), { recursive: true });
      await writeFile(at(file), content);
    },
    async commit(message = 'work') {
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '--message', message);
      return head();
    },
  };
}
