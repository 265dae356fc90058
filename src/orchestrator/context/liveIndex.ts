import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HumanError } from '../../base/humanError.ts';
import {
  type ChangedCommit,
  type CommitsSince,
  changedCommits,
  commitHashes,
  commitsSince,
  hasMoves,
  isShallowClone,
  type PastCommit,
  pastCommits,
} from '../git/fileHistory.ts';
import {
  blobSizes,
  blobTexts,
  changedTree,
  checkedOutContent,
  type TreeFile,
  treeFiles,
} from '../git/treeFiles.ts';
import { CodeIndex, type FileOfIndex, haveSame } from './codeIndex.ts';
import { type FileWords, fileWordsOf } from './fileWords.ts';
import { readIndex, type StoredIndex, writeIndex } from './indexStore.ts';
import type { PastUse } from './pastUses.ts';
import { isGenerated, isModerate, isShownPath } from './sourceFile.ts';
import { Vocabulary } from './vocabulary.ts';

/** How far back the history is read, in commits. */
const HISTORY = 4_000;
/** How much is read at once, so that not all texts are in memory. */
const CHUNK_BYTES = 4_000_000;
/** With fewer bytes of source, building the index takes no time that anybody notices. */
const SMALL_BYTES = 3_000_000;
/** Files that are read without a break. */
const FILES_PER_TURN = 8;
/** So many new files are looked for where they are checked out, which saves two starts of git. */
const FEW_FILES = 50;
/** The share of new files from which the store is written again. */
const WORTH_WRITING = 0.05;
const NOTHING_NEW: CommitsSince = { commits: [], hasMerges: false, contents: new Map() };

/** An index with what the next one can use of it. */
interface Current {
  /** Identifies the question. `undefined`: the same question may have another answer next time. */
  readonly key: string | undefined;
  readonly index: CodeIndex;
  readonly tree: readonly TreeFile[];
  readonly past: readonly PastCommit[];
}

/**
 * The index of a repository, kept up to date with its commits. It reads the objects of git; a file of the
 * work tree is used only if it has the same content.
 */
export class LiveIndex {
  private readonly file: string | undefined;
  private stored: StoredIndex | undefined;
  private current: Current | undefined;
  private lastTree: { readonly commit: string; readonly files: readonly TreeFile[] } | undefined;
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
    const blobs = (await this.shownFiles(dir, commit)).map(({ blob }) => blob);
    const sizes = [...(await blobSizes(dir, [...new Set(blobs)])).values()];
    return sizes.filter(isModerate).reduce((sum, size) => sum + size, 0) <= SMALL_BYTES;
  }

  /**
   * {@link follow}, and stores the index if that is worth it.
   * @throws {HumanError} if a link stands where it is stored
   */
  async at(
    dir: string,
    commit: string,
    uses?: readonly PastUse[],
    prefix?: string,
  ): Promise<CodeIndex> {
    const index = await this.follow(dir, commit, uses, prefix);
    await this.store(index.paths.length);
    return index;
  }

  /**
   * The index of a commit.
   * @param uses what agents of the past used: to the index, commits that changed these files
   * @param prefix the folder within its repository: '' or `packages/app/`
   */
  async follow(
    dir: string,
    commit: string,
    uses: readonly PastUse[] = [],
    prefix = '',
  ): Promise<CodeIndex> {
    const key = `${commit} ${uses.length} ${uses.at(-1)?.time ?? 0}`;
    if (this.current?.key === key) {
      return this.current.index;
    }
    await this.open();
    this.stored ??= { vocabulary: new Vocabulary(), files: new Map(), commits: [] };
    const since = await this.commitsSince(dir, commit);
    const [commits, tree, isShallow] = await Promise.all([
      this.history(dir, commit, since),
      this.readTree(dir, commit, since, prefix),
      since === undefined && isShallowClone(dir),
    ]);
    const files = this.filesOf(tree);
    const { current } = this;
    const paths = files.map(file => file.path);
    const isAlike = current !== undefined && haveSame(current.index.paths, paths);
    const known = isAlike ? current.index.facts.numbers : new Set(paths);
    const isKnown = (file: string) => known.has(file);
    // What older commits changed has other names only if files were moved since.
    const past =
      isAlike && since?.contents && !hasMoves(since.commits)
        ? [...pastCommits(since.commits, isKnown), ...current.past].slice(0, HISTORY)
        : pastCommits(commits, isKnown);
    const index = new CodeIndex(
      files,
      withUses(commits, past, uses, known),
      this.stored.vocabulary,
      current?.index,
    );
    // A shallow clone may get older commits at any time, so its history is always read as a whole.
    this.current = { key: isShallow ? undefined : key, index, tree, past };
    this.stored = { ...this.stored, commits, head: isShallow ? undefined : commit };
    return index;
  }

  /** @param size the number of files of the index */
  private async store(size: number): Promise<void> {
    const { file, stored } = this;
    if (file === undefined || stored === undefined || this.notWritten <= size * WORTH_WRITING) {
      return;
    }
    try {
      await writeIndex(file, stored);
      this.notWritten = 0;
    } catch (error) {
      if (error instanceof HumanError) {
        // A link stands there: a person should know.
        throw error;
      }
      // The file only saves time: on a full disk, the next process reads everything again.
    }
  }

  private async open(): Promise<void> {
    if (!this.isOpen) {
      this.isOpen = true;
      this.stored = this.file === undefined ? undefined : await readIndex(this.file);
    }
  }

  /** The files of the commit, which all have been read then. */
  private async readTree(
    dir: string,
    commit: string,
    since: CommitsSince | undefined,
    prefix: string,
  ): Promise<readonly TreeFile[]> {
    const { tree: known } = this.current ?? {};
    const contents = since?.contents;
    // Git's list of all files is only needed if it is not clear what has changed.
    const tree =
      known === undefined || contents === undefined
        ? await this.shownFiles(dir, commit)
        : changedTree(known, new Map([...contents].filter(([file]) => isShownPath(file))));
    this.lastTree = undefined;
    await this.readNew(dir, tree, prefix);
    return tree;
  }

  private async readNew(dir: string, tree: readonly TreeFile[], prefix: string): Promise<void> {
    const { files, vocabulary } = this.stored ?? {};
    if (files === undefined || vocabulary === undefined) {
      return;
    }
    const add = (blob: string, text: string | undefined): void => {
      const isShown = text !== undefined && !isGenerated(text);
      files.set(blob, isShown ? fileWordsOf(text, vocabulary) : undefined);
    };
    const missing = new Map(
      tree.filter(({ blob }) => !files.has(blob)).map(file => [file.blob, file]),
    );
    this.notWritten += missing.size;
    if (missing.size <= FEW_FILES) {
      for (const file of missing.values()) {
        const place = path.posix.relative(prefix, file.path);
        const content = await checkedOutContent(dir, { ...file, path: place });
        if (content !== undefined && isModerate(content.length)) {
          add(file.blob, content.toString('utf8'));
          missing.delete(file.blob);
        }
      }
    }
    const sizes = await blobSizes(dir, [...missing.keys()]);
    for (const blob of missing.keys()) {
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
        add(blob, texts[i]);
        if (i % FILES_PER_TURN === 0) {
          // What git has ready is only taken when nothing else runs.
          await nextTurn();
        }
      }
    }
    await next;
    vocabulary.forgetNames();
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
    const files: FileOfIndex[] = [];
    for (const { blob, path } of tree) {
      const words: FileWords | undefined = this.stored?.files.get(blob);
      if (words !== undefined) {
        files.push({ path, blob, words });
      }
    }
    return files;
  }

  /** Whoever asks whether there is much to read wants to read it next. */
  private async shownFiles(dir: string, commit: string): Promise<readonly TreeFile[]> {
    if (this.lastTree?.commit !== commit) {
      const files = (await treeFiles(dir, commit)).filter(({ path }) => isShownPath(path));
      this.lastTree = { commit, files };
    }
    return this.lastTree.files;
  }

  /** @returns `undefined` if the commit is not one that follows the last one */
  private async commitsSince(dir: string, commit: string): Promise<CommitsSince | undefined> {
    const { head } = this.stored ?? {};
    if (head === commit) {
      return NOTHING_NEW;
    }
    const asked = { newest: commit, limit: HISTORY };
    return head === undefined ? undefined : commitsSince(dir, head, asked);
  }

  /** The newest commits. @param since those that are new, if they are known */
  private async history(
    dir: string,
    commit: string,
    since: CommitsSince | undefined,
  ): Promise<readonly ChangedCommit[]> {
    const { commits: known = [] } = this.stored ?? {};
    const asked = { newest: commit, limit: HISTORY };
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

/** Commits and uses, newest first. */
function withUses(
  commits: readonly ChangedCommit[],
  past: readonly PastCommit[],
  uses: readonly PastUse[],
  known: Pick<ReadonlySet<string>, 'has'>,
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
