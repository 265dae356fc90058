import { readdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * The database that `bd` keeps next to a file of Beads issues, which the file is only an export of. Its names over the
 * years: SQLite files, a server's folder, the embedded one, or a note that says where it is.
 * @param storyFile absolute path
 * @returns its name in the folder; `undefined` if the file itself is all there is
 */
export async function beadsDatabase(storyFile: string): Promise<string | undefined> {
  const folder = path.dirname(storyFile);
  if (path.basename(folder) !== '.beads' || !/\.(?:jsonl|ndjson)$/i.test(storyFile)) {
    return undefined;
  }
  const entries = await readdir(folder).catch(() => []);
  return entries.sort().find(name => DATABASE.test(name));
}

const DATABASE = /^(?:[^.].*\.db|dolt|embeddeddolt|redirect)$/;
