import path from 'node:path';
import { gitResult } from '../git/runGit.ts';
import type { CodeIndex } from './codeIndex.ts';
import { storyWords } from './codeWords.ts';
import { type PastUse, trustOf } from './pastUses.ts';
import { filesByPin, type PinEntry } from './pin/pinEntries.ts';
import { type Reason, rankedFiles } from './ranking.ts';
import { signaturesOf } from './signatures.ts';
import { SymbolMemory } from './symbolMemory.ts';
import { best } from './values.ts';

/** A file that an agent should look at, and why. */
export interface CodePointer {
  /** Relative to the agent's folder, with forward slashes. */
  readonly path: string;
  readonly reason: Reason;
  /** Lines without bodies: what it defines that fits the story. */
  readonly signatures: readonly string[];
}

/** What an agent should know about the code for its story; pointers, no contents. */
export interface CodePointers {
  /** Best first. */
  readonly files: readonly CodePointer[];
  /** Earlier commits about something similar, best first. */
  readonly commits: readonly { readonly hash: string; readonly subject: string }[];
}

/** What is asked for. */
export interface PointerQuery {
  /** The agent's folder. */
  readonly dir: string;
  readonly commit: string;
  readonly title: string;
  /** The story's description and criteria; may be empty. */
  readonly text: string;
  /** Paths relative to the folder: first, whatever else is found; and never. */
  readonly pinned: readonly string[];
  readonly barred: readonly string[];
}

/** Files of a prompt; more than fit into the default budget. */
const FILES = 40;
/** Files with signatures. */
const SIGNED = 8;
const COMMITS = 4;
/** A commit that shares less of the story's words is about something else. */
const LEAST_LIKENESS = 0.35;
/** Longest text in addition to the title, in UTF-16 units. */
const MAX_TEXT = 4_000;
/** Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), with a smaller constant: the lists are short. */
const FUSION = 10;
/** For all repositories of a process: a content is the same everywhere. */
const memory = new SymbolMemory();

/**
 * Finds what matters for a story.
 * @param prefix the agent's folder within its repository: '' or `packages/app/`
 * @param pin the entries of the Pin in the agent's folder
 */
export async function codePointers(
  index: CodeIndex,
  query: PointerQuery,
  uses: readonly PastUse[],
  prefix: string,
  pin: readonly PinEntry[] = [],
): Promise<CodePointers> {
  const fromRoot = (file: string) => path.posix.normalize(path.posix.join(prefix, file));
  const shown = (file: string) => path.posix.relative(prefix, file) || file;
  const text = `${query.title}\n${query.text.slice(0, MAX_TEXT)}`;
  const barred = new Set(query.barred.map(fromRoot));
  const pinned = [...new Set(query.pinned.map(fromRoot))];
  const entries = pin.map(entry => ({ ...entry, places: entry.places.map(fromRoot) }));
  const found = fused(index, query, text, trustOf(uses), entries).filter(
    ({ path: file }) => !barred.has(file) && !pinned.includes(file),
  );
  const chosen: { path: string; reason: Reason }[] = [
    ...pinned
      .filter(file => !barred.has(file))
      .map(file => ({ path: file, reason: 'pinned' as const })),
    ...found,
  ].slice(0, FILES);
  const known = chosen.slice(0, SIGNED).flatMap(({ path: file }) => {
    const blob = index.blobs[index.facts.numbers.get(file) ?? -1];
    return blob === undefined ? [] : [{ file, path: shown(file), blob }];
  });
  const definitions = await memory.definitionsOf(query.dir, known);
  const words = storyWords(text);
  const signatures = new Map(
    known.map(({ file }, i) => [file, signaturesOf(definitions[i] ?? [], words)] as const),
  );
  return {
    files: chosen.map(({ path: file, reason }) => ({
      path: shown(file),
      reason,
      signatures: signatures.get(file) ?? [],
    })),
    commits: similarCommits(index, query.title),
  };
}

/**
 * The files for the title, for the whole text and by the Pin as one list: a title is clear, a description names more, a
 * person knows.
 */
export function fused(
  index: CodeIndex,
  query: Pick<PointerQuery, 'text' | 'title'>,
  text: string,
  trust: ReadonlyMap<string, number>,
  pin: readonly PinEntry[],
): { path: string; reason: Reason; score: number }[] {
  const all = new Map<string, { path: string; reason: Reason; score: number }>();
  const add = (
    files: readonly { readonly path: string; readonly reason: Reason; readonly weight?: number }[],
  ): void => {
    files.forEach(({ path: file, reason, weight = 1 }, rank) => {
      const score = ((trust.get(file) ?? 1) * weight) / (FUSION + rank);
      const known = all.get(file);
      all.set(file, {
        path: file,
        reason: known?.reason ?? reason,
        score: score + (known?.score ?? 0),
      });
    });
  };
  const byTitle = rankedFiles(index, query.title, 2 * FILES);
  if (pin.length > 0) {
    const paths = [...new Set([...byTitle.map(file => file.path), ...index.paths])];
    const found = filesByPin(pin, query, paths, knownTo(index));
    add(found.map(file => ({ ...file, reason: 'pin' })));
  }
  add(byTitle);
  if (query.text !== '') {
    add(rankedFiles(index, text, 2 * FILES));
  }
  return [...all.values()].sort((a, b) => b.score - a.score);
}

/** Whether a word is in the code or in messages about it; in a document, such as the Pin itself, does not count. */
function knownTo({ content, past, paths }: CodeIndex): (word: string) => boolean {
  return word =>
    [content, past.history].some(
      words =>
        words.has(word) &&
        words.scores([word]).some((score, file) => score > 0 && !/\.md$/i.test(paths[file] ?? '')),
    );
}

function similarCommits({ past }: CodeIndex, title: string): { hash: string; subject: string }[] {
  const words = storyWords(title);
  const likeness = past.messages.scores(words, { b: 0.5 });
  let all = 0;
  for (const word of words) {
    // A word that no message has ever had tells nothing about how alike two of them are.
    all += past.messages.has(word) ? past.messages.rarity(word) : 0;
  }
  return best(likeness, COMMITS).flatMap(commit => {
    const { hash = '', subject = '' } = past.commits[commit] ?? {};
    return hash === '' || (likeness[commit] ?? 0) < LEAST_LIKENESS * all ? [] : [{ hash, subject }];
  });
}

/** The folder within its repository: '' or `packages/app/`. */
export async function prefixOf(dir: string): Promise<string> {
  const { code, stdout } = await gitResult(dir, ['rev-parse', '--show-prefix']);
  return code === 0 ? stdout.toString('utf8').replace(/\r?\n$/, '') : '';
}
