import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { readPlainFile, requirePlainFolders } from '../../base/plainFile.ts';
import type { ChangedCommit } from '../git/fileHistory.ts';
import type { FileWords } from './fileWords.ts';
import { Vocabulary } from './vocabulary.ts';
import type { WordCounts } from './wordIndex.ts';

/** What an index is made from, so that only what has changed must be read again. */
export interface StoredIndex {
  readonly vocabulary: Vocabulary;
  /** By hash of the content; `undefined` for a file that is not shown, such as a generated one. */
  readonly files: Map<string, FileWords | undefined>;
  /** Newest first. */
  readonly commits: readonly ChangedCommit[];
}

/** Changes with the format, and with what {@link FileWords} are. */
const VERSION = 1;
const MAX_BYTES = 512 * 1024 * 1024;
const HEADER_BYTES = 8;

interface Header {
  readonly version: number;
  readonly words: readonly string[];
  readonly commits: readonly ChangedCommit[];
  /** Hash, then for a shown file: size, and the number of words of content, definitions and passages. */
  readonly files: readonly (readonly [string, ...number[]])[];
}

/**
 * Reads what {@link writeIndex} wrote.
 * @returns `undefined` if there is nothing, or nothing of this version: it is built anew then
 */
export async function readIndex(file: string): Promise<StoredIndex | undefined> {
  const bytes = await readPlainFile(file, MAX_BYTES).catch(() => undefined);
  try {
    return bytes && decoded(bytes);
  } catch {
    // Damaged or from somebody else.
    return undefined;
  }
}

/** Replaces the file in one step. */
export async function writeIndex(file: string, index: StoredIndex): Promise<void> {
  requirePlainFolders(path.dirname(file));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFileAtomic(file, encoded(index), { fsync: false });
}

function encoded({ commits, files, vocabulary }: StoredIndex): Buffer {
  const all: WordCounts[] = [];
  const header: Header = {
    version: VERSION,
    words: vocabulary.words,
    commits,
    files: Array.from(files, ([hash, words]): [string, ...number[]] => {
      if (words === undefined) {
        return [hash];
      }
      const counts = [words.content, words.definitions, ...words.passages];
      all.push(...counts);
      return [hash, words.size, ...counts.map(({ words: own }) => own.length)];
    }),
  };
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(HEADER_BYTES);
  start.writeUInt32LE(text.length, 0);
  // Numbers begin at a multiple of four.
  const gap = Buffer.alloc((4 - (text.length % 4)) % 4);
  const bytes = ({ buffer, byteLength, byteOffset }: Uint32Array | Float32Array) =>
    Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  return Buffer.concat([
    start,
    text,
    gap,
    ...all.map(({ words }) => bytes(words)),
    ...all.map(({ weights }) => bytes(weights)),
  ]);
}

function decoded(bytes: Buffer): StoredIndex | undefined {
  const textEnd = HEADER_BYTES + bytes.readUInt32LE(0);
  const header = JSON.parse(bytes.toString('utf8', HEADER_BYTES, textEnd)) as Header;
  if (header.version !== VERSION) {
    return undefined;
  }
  const from = textEnd + ((4 - ((textEnd - HEADER_BYTES) % 4)) % 4);
  const count = (bytes.length - from) / 8;
  // A copy of its own: numbers must begin at a multiple of four in memory, too.
  const numbers = bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + bytes.length);
  const words = new Uint32Array(numbers, 0, count);
  const weights = new Float32Array(numbers, count * 4, count);
  const vocabulary = new Vocabulary(header.words);
  if (words.some(word => word >= header.words.length) || vocabulary.size !== header.words.length) {
    return undefined;
  }
  let at = 0;
  const next = (length: number): WordCounts => {
    const counts = {
      words: words.subarray(at, at + length),
      weights: weights.subarray(at, at + length),
    };
    at += length;
    return counts;
  };
  const files = new Map<string, FileWords | undefined>();
  for (const [hash, size, content, definitions, ...passages] of header.files) {
    files.set(
      hash,
      size === undefined
        ? undefined
        : {
            size,
            content: next(content ?? 0),
            definitions: next(definitions ?? 0),
            passages: passages.map(next),
          },
    );
  }
  return at === count ? { vocabulary, files, commits: header.commits } : undefined;
}
