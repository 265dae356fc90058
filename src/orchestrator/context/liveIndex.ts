import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ChangedCommit,
  changedCommits,
  commitHashes,
  commitsSince,
  type PastCommit,
  pastCommits,
} from '../git/fileHistory.ts';
import { blobSizes, blobTexts, type TreeFile, treeFiles } from '../git/treeFiles.ts';
import { CodeIndex, type FileOfIndex } from './codeIndex.ts';
import { type FileWords, fileWordsOf } from './fileWords.ts';
import { readIndex, type StoredIndex, writeIndex } from './indexStore.ts';
import type { PastUse } from './pastUses.ts';
import { isGenerated, isModerate, isShownPath } from './sourceFile.ts';
import { Vocabulary } from './vocabulary.ts';

/** How far back the history is read, in commits. */
const HISTORY = 4_000;
/** How much is read at once, so that not all texts are in memory. */
const CHUNK_BYTES = 4_000_000;
/** An index of fewer bytes is ready before an agent could notice. */
const SMALL_BYTES = 3_000_000;
/** Files that are read without a break. */
const FILES_PER_TURN = 8;
/** The share of new files from which the store is written again. */
const WORTH_WRITING = 0.05;

/** The index of a repository at a commit, which follows the commits. Reads git's objects only, never the work tree. */
export class LiveIndex {
  private readonly file: string | undefined;
  private stored: StoredIndex | undefined;
  private current: { readonly key: string; readonly index: CodeIndex } | undefined;
  private isOpen = false;
  private notWritten = 0;

  /** @param file of the stored index; absent: it is not stored */
  constructor(file: string | undefined) {
    this.file = file;
  }

  /** Whether the index is ready at once: it is stored, or there is little to read. */
  async isNear(dir: string, commit: string): Promise<boolean> {
    await this.open();
    if (this.stored !== undefined) {
      return true;
    }
    const blobs = (await shownFiles(dir, commit)).map(({ blob }) => blob);
    const sizes = [...(await blobSizes(dir, [...new Set(blobs)])).values()];
    return sizes.filter(isModerate).reduce((sum, size) => sum + size, 0) <= SMALL_BYTES;
  }

  /**
   * The index of a commit.
   * @param uses what agents of the past used: to the index, commits that changed these files
   */
  async at(dir: string, commit: string, uses: readonly PastUse[] = []): Promise<CodeIndex> {
    const key = `${commit} ${uses.length} ${uses.at(-1)?.time ?? 0}`;
    if (this.current?.key === key) {
      return this.current.index;
    }
    await this.open();
    const tree = await shownFiles(dir, commit);
    this.stored ??= { vocabulary: new Vocabulary(), files: new Map(), commits: [] };
    const { vocabulary } = this.stored;
    const [commits] = await Promise.all([this.history(dir, commit), this.readNew(dir, tree)]);
    const files = this.filesOf(tree);
    const known = new Set(files.map(({ path }) => path));
    const past = pastCommits(commits, path => known.has(path));
    const index = new CodeIndex(
      files,
      withUses(commits, past, uses, known),
      vocabulary,
      this.current?.index,
    );
    this.current = { key, index };
    this.stored = { ...this.stored, commits, head: commit };
    if (this.file !== undefined && this.notWritten > files.length * WORTH_WRITING) {
      await writeIndex(this.file, this.stored);
      this.notWritten = 0;
    }
    return index;
  }

  private async open(): Promise<void> {
    if (!this.isOpen) {
      this.isOpen = true;
      this.stored = this.file === undefined ? undefined : await readIndex(this.file);
    }
  }

  private async readNew(dir: string, tree: readonly TreeFile[]): Promise<void> {
    const { files, vocabulary } = this.stored ?? {};
    if (files === undefined || vocabulary === undefined) {
      return;
    }
    const missing = new Set(tree.flatMap(({ blob }) => (files.has(blob) ? [] : [blob])));
    const sizes = await blobSizes(dir, [...missing]);
    for (const blob of missing) {
      if (!isModerate(sizes.get(blob) ?? 0)) {
        files.set(blob, undefined);
        sizes.delete(blob);
      }
    }
    const chunks = chunksOf(sizes, CHUNK_BYTES);
    const read = async (at: number) => {
      const blobs = chunks[at] ?? [];
      return { blobs, texts: blobs.length === 0 ? [] : await blobTexts(dir, blobs) };
    };
    let next = read(0);
    for (let at = 0; at < chunks.length; at++) {
      const { blobs, texts } = await next;
      // Git reads the next ones meanwhile.
      next = read(at + 1);
      for (const [i, blob] of blobs.entries()) {
        const text = texts[i];
        const isShown = text !== undefined && !isGenerated(text);
        files.set(blob, isShown ? fileWordsOf(text, vocabulary) : undefined);
        if (i % FILES_PER_TURN === 0) {
          // What git has ready is only taken when nothing else runs.
          await nextTurn();
        }
      }
    }
    await next;
    vocabulary.forgetNames();
    this.notWritten += missing.size;
    if (files.size > 2 * tree.length) {
      const present = new Set(tree.map(({ blob }) => blob));
      for (const blob of files.keys()) {
        if (!present.has(blob)) {
          files.delete(blob);
        }
      }
    }
  }

  private filesOf(tree: readonly TreeFile[]): FileOfIndex[] {
    return tree.flatMap(({ blob, path }): FileOfIndex[] => {
      const words: FileWords | undefined = this.stored?.files.get(blob);
      return words === undefined ? [] : [{ path, blob, words }];
    });
  }

  /** The newest commits; only those that are new are asked for. */
  private async history(dir: string, commit: string): Promise<readonly ChangedCommit[]> {
    const { commits: known = [], head } = this.stored ?? {};
    if (head === commit) {
      return known;
    }
    const asked = { newest: commit, limit: HISTORY };
    const since = head === undefined ? undefined : await commitsSince(dir, head, asked);
    if (since === undefined) {
      return changedCommits(dir, asked);
    }
    const all = [...since.commits, ...known];
    if (!since.hasMerges) {
      return all.slice(0, HISTORY);
    }
    // What a merge brings stands among what was known.
    const byHash = new Map(all.map(one => [one.hash, one]));
    const hashes = await commitHashes(dir, asked);
    const ordered = hashes.flatMap(hash => byHash.get(hash) ?? []);
    return ordered.length === hashes.length ? ordered : changedCommits(dir, asked);
  }
}

/** Blobs in groups of about so many bytes. */
function chunksOf(sizes: ReadonlyMap<string, number>, bytes: number): string[][] {
  const chunks: string[][] = [];
  let left = 0;
  for (const [blob, size] of sizes) {
    if (left <= 0) {
      chunks.push([]);
      left = bytes;
    }
    chunks.at(-1)?.push(blob);
    left -= size;
  }
  return chunks;
}

async function shownFiles(dir: string, commit: string): Promise<TreeFile[]> {
  return (await treeFiles(dir, commit)).filter(({ path }) => isShownPath(path));
}

/** Commits and uses, newest first. */
function withUses(
  commits: readonly ChangedCommit[],
  past: readonly PastCommit[],
  uses: readonly PastUse[],
  known: ReadonlySet<string>,
): PastCommit[] {
  const used = uses.map(({ time, title, used: files }) => ({
    time,
    past: {
      hash: '',
      subject: title,
      body: '',
      files: files.filter(file => known.has(file)),
      size: files.length,
    },
  }));
  const own = past.map((one, i) => ({ time: commits[i]?.time ?? 0, past: one }));
  // A stable sort keeps git's order, which is not always that of the clocks, wherever there are no uses.
  return used.length === 0
    ? [...past]
    : [...used, ...own].sort((a, b) => b.time - a.time).map(one => one.past);
}
