import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { findAtKnownPlaces } from './storyFile.ts';

/** Names of folders that hold other people's files, or copies. */
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
/** Hidden folders that are looked into. In `.omc`, what the loop archived and keeps is no story file. */
const HIDDEN = new Set(['.omc', '.ralph', '.claude']);
const SKIPPED_IN_OMC = new Set(['archive', 'state', 'logs']);
const MAX_DEPTH = 5;
const MAX_FOLDERS = 3000;
const MAX_FILES = 50;

/** Every file of a workspace that may hold stories, by absolute path: those at the known places first. */
export async function findStoryFiles(folder: string): Promise<string[]> {
  return [...new Set([...(await findAtKnownPlaces(folder)), ...(await findPrdFiles(folder))])];
}

/**
 * Finds every `prd.json` below a folder, not too deep, and not among what others wrote, the uppermost first.
 * Folders that cannot be read are passed over.
 */
async function findPrdFiles(folder: string): Promise<string[]> {
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
          found.push(path.join(dir, entry.name));
        } else if (entry.isDirectory() && isLookedInto(dir, entry.name)) {
          below.push(path.join(dir, entry.name));
        }
      }
    }
    level = below;
  }
  return found;
}

function isLookedInto(dir: string, name: string): boolean {
  if (path.basename(dir) === '.omc') {
    return !SKIPPED_IN_OMC.has(name);
  }
  return name.startsWith('.') ? HIDDEN.has(name) : !SKIPPED.has(name);
}
