import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Names of folders that contain third-party files, or copies. */
const SKIPPED = new Set([
  'node_modules',
  'bower_components',
  'vendor',
  'dist',
  'build',
  'out',
  'target',
  'coverage',
  'venv',
  '__pycache__',
]);
/** Hidden folders that are searched. In `.omc`, archived and kept files of the loop are not story files. */
const HIDDEN = new Set(['.omc', '.ralph', '.claude']);
const SKIPPED_IN_OMC = new Set(['archive', 'state', 'logs']);
const MAX_DEPTH = 5;
const MAX_FOLDERS = 3000;
const MAX_FILES = 50;

/**
 * Finds every `prd.json` below a folder, up to a limited depth and without third-party folders, top-level ones
 * first. Unreadable folders are skipped.
 */
export async function findPrdFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  let level = [folder];
  let looked = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const dir of level) {
      if (looked++ >= MAX_FOLDERS || found.length >= MAX_FILES) {
        return found;
      }
      const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (entry.isFile() && entry.name === 'prd.json') {
          found.push(join(dir, entry.name));
        } else if (entry.isDirectory() && isLookedInto(dir, entry.name)) {
          below.push(join(dir, entry.name));
        }
      }
    }
    level = below;
  }
  return found;
}

function isLookedInto(dir: string, name: string): boolean {
  if (basename(dir) === '.omc') {
    return !SKIPPED_IN_OMC.has(name);
  }
  return name.startsWith('.') ? HIDDEN.has(name) : !SKIPPED.has(name);
}
