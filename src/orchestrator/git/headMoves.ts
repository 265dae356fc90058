import path from 'node:path';
import { openPlainFile } from '../../base/plainFile.ts';

/** In bytes, from the end: thousands of moves. */
const MAX_BYTES = 1 << 20;

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

/**
 * The newest moves of HEAD, newest first. Reads the file of git, so no process is needed.
 * @param gitDir git's folder of the work tree
 * @param since ISO 8601; git stores whole seconds
 * @returns none if git keeps no reflog
 */
export async function headMoves(gitDir: string, since: string): Promise<readonly HeadMove[]> {
  const first = Math.floor(Date.parse(since) / 1_000);
  return (await lastLines(path.join(gitDir, 'logs', 'HEAD')))
    .flatMap((line): HeadMove[] => {
      const [who = '', action = ''] = line.split('\t');
      const [, hash, time] = /^[0-9a-f]+ ([0-9a-f]+) .*> (\d+) [+-]\d+$/.exec(who) ?? [];
      const [, from, to] = /^checkout: moving from (\S+) to (\S+)$/.exec(action) ?? [];
      return hash === undefined
        ? []
        : [
            {
              ...{ hash, from, to },
              isCommit: /^(?:commit|cherry-pick|revert|am|rebase)\b/.test(action),
              isNew: Number(time) >= first,
            },
          ];
    })
    .reverse();
}

async function lastLines(file: string): Promise<readonly string[]> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return [];
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
