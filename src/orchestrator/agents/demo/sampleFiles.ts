import { randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';

export const PRD_FILE = '.omc/prd.json';
export const PROGRESS_FILE = '.omc/progress.txt';

const Prd = z.looseObject({
  userStories: z.array(
    z.looseObject({ id: z.string(), title: z.string(), passes: z.optional(z.boolean()) }),
  ),
});
export type Prd = z.infer<typeof Prd>;

/** @returns `undefined` if the text is not a story file that the demo can read */
export function parsePrd(text: string): Prd | undefined {
  try {
    return Prd.parse(JSON.parse(text.replace(/^\uFEFF/, '')));
  } catch {
    return undefined;
  }
}

/**
 * Sets one story's `passes` and changes nothing else.
 * @returns `undefined` if there is no such story with the other value
 */
export function setPasses(text: string, id: string, passes: boolean): string | undefined {
  const wanted = parsePrd(text);
  const story = wanted?.userStories.find(candidate => candidate.id === id);
  if (story?.passes !== !passes) {
    return undefined;
  }
  story.passes = passes;
  // The right place is found by trying: it is the one that gives the expected file.
  for (const match of text.matchAll(/("passes"\s*:\s*)(true|false)/g)) {
    const edited = `${text.slice(0, match.index)}${match[1]}${passes}${text.slice(match.index + match[0].length)}`;
    if (isDeepStrictEqual(parsePrd(edited), wanted)) {
      return edited;
    }
  }
  return undefined;
}

export interface ProgressEntry {
  readonly id: string;
  readonly title: string;
  readonly done: string;
  readonly files: readonly string[];
  readonly learnings: readonly string[];
  readonly patterns: readonly string[];
}

/** Appends the story's entry to the log, and adds its patterns under their heading, each once. */
export function addProgress(text: string, entry: ProgressEntry, now: Date): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  while (lines.at(-1) === '') {
    lines.pop();
  }
  addPatterns(lines, entry.patterns);
  const heading = ` - ${entry.id}: ${entry.title}`;
  if (!lines.some(line => line.startsWith('## ') && line.endsWith(heading))) {
    if (lines.length > 0) {
      lines.push('');
    }
    lines.push(
      `## ${now.toISOString().slice(0, 16).replace('T', ' ')} UTC${heading}`,
      '',
      `- ${entry.done}`,
      `- Files: ${entry.files.join(', ')}`,
      '- **Learnings for future iterations:**',
      ...entry.learnings.map(learning => `  - ${learning}`),
      '',
      '---',
    );
  }
  return `${lines.join(eol)}${eol}`;
}

function addPatterns(lines: string[], patterns: readonly string[]): void {
  const fresh = patterns.map(pattern => `- ${pattern}`).filter(line => !lines.includes(line));
  if (fresh.length === 0) {
    return;
  }
  let heading = lines.indexOf('## Codebase Patterns');
  if (heading < 0) {
    heading = lines[0]?.startsWith('# ') ? 2 : 0;
    lines.splice(heading, 0, '## Codebase Patterns', '');
  }
  const next = lines.findIndex((line, index) => index > heading && /^(#{1,2} |---)/.test(line));
  let end = next < 0 ? lines.length : next;
  while (lines[end - 1] === '') {
    end -= 1;
  }
  lines.splice(end, 0, ...(end === heading + 1 ? ['', ...fresh] : fresh));
}

/**
 * @returns `undefined` if there is no such file
 * @throws the system's error in all other cases
 */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Writes atomically: if the process is killed, the file is either the old or the new one. */
export async function writeWhole(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const target = await realpath(file).catch(() => file);
  const temporary = `${target}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
