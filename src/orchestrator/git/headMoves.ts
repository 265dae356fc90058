import path from 'node:path';
import { openPlainFile } from '../../base/plainFile.ts';
import { gitResult } from './runGit.ts';

/** In bytes, from the end: thousands of moves. */
const MAX_BYTES = 1 << 20;
const MAX_MOVES = 1_000;

/** What happened to HEAD in a work tree: a line of its reflog. */
export interface HeadMove {
  /** Full hash of the commit where HEAD was afterwards. */
  readonly hash: string;
  /** The branches of a switch; a full hash for a detached HEAD. */
  readonly from?: string;
  readonly to?: string;
  /** It made this commit, and did not only go there. */
  readonly isCommit: boolean;
  /** It is not older than the given time. */
  readonly isNew: boolean;
}

/** Of a rebase, only some steps make a commit; others go to one of somebody else. */
const MAKES_COMMIT =
  /^(?:commit|cherry-pick|revert|am)\b|^rebase[^:]*\((?:pick|reword|edit|squash|fixup|continue|merge)\)/;

/**
 * The newest moves of HEAD, newest first. Reads the file of git, so no process is needed where git has one.
 * @param gitDir git's folder of the work tree
 * @param since ISO 8601; git stores whole seconds
 * @returns none if git keeps no reflog
 */
export async function headMoves(
  dir: string,
  gitDir: string,
  since: string,
): Promise<readonly HeadMove[]> {
  const first = Math.floor(Date.parse(since) / 1_000);
  const lines = await lastLines(path.join(gitDir, 'logs', 'HEAD'));
  return (lines === undefined ? await askGit(dir) : lines.flatMap(lineOf).reverse()).map(
    ({ action, hash, time }) => {
      const [, from, to] = /^checkout: moving from (\S+) to (\S+)$/.exec(action) ?? [];
      return {
        ...{ hash, from, to },
        isCommit: MAKES_COMMIT.test(action),
        isNew: Number(time) >= first,
      };
    },
  );
}

interface Line {
  readonly hash: string;
  /** In seconds. */
  readonly time: string;
  readonly action: string;
}

function lineOf(text: string): Line[] {
  const [who = '', action = ''] = text.split('\t');
  const [, hash, time] = /^[0-9a-f]+ ([0-9a-f]+) .*> (\d+) [+-]\d+$/.exec(who) ?? [];
  return hash === undefined || time === undefined ? [] : [{ hash, time, action }];
}

/** Newer repositories may keep the reflog in a table. @returns newest first */
async function askGit(dir: string): Promise<Line[]> {
  const { code, stdout } = await gitResult(dir, [
    ...['--no-optional-locks', 'log', '--walk-reflogs', `--max-count=${MAX_MOVES}`, '--date=unix'],
    ...['--format=%gd%x00%H%x00%gs', 'HEAD', '--'],
  ]);
  return (code === 0 ? stdout.toString('utf8') : '').split('\n').flatMap(text => {
    const [name = '', hash = '', action = ''] = text.split('\0');
    const [, time] = /\{(\d+)\}$/.exec(name) ?? [];
    return time === undefined ? [] : [{ hash, time, action }];
  });
}

async function lastLines(file: string): Promise<readonly string[] | undefined> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return undefined;
  }
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - MAX_BYTES);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(size - start),
      position: start,
    });
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return start === 0 ? lines : lines.slice(1);
  } finally {
    await handle.close();
  }
}
