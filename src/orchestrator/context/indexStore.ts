import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
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
  /** The commit whose history they are. It may be a merge, which is not among them. */
  readonly head?: string | undefined;
}

/** Changes with the format, and with what {@link FileWords} are. */
const VERSION = 2;
const MAX_BYTES = 512 * 1024 * 1024;
/** The length of the header, and its checksum: what is damaged there would be no index, or one of another history. */
const HEADER_BYTES = 8;
const CHECKSUM_AT = 4;
const PART_BYTES = 1024 * 1024;

interface Header {
  readonly version: number;
  readonly words: readonly string[];
  readonly commits: readonly ChangedCommit[];
  readonly head?: string | undefined;
  /** Hash, then for a shown file: size, and the number of words of content, definitions and passages. */
  readonly files: readonly (readonly [string, ...number[]])[];
}

/**
 * Reads what {@link writeIndex} wrote.
 * @returns `undefined` if there is nothing, or nothing of this version: it is built anew then
 */
export async function readIndex(file: string): Promise<StoredIndex | undefined> {
  const handle = await openPlainFile(file).catch(() => undefined);
  try {
    return handle && (await decoded(handle));
  } catch {
    // Damaged or from somebody else.
    return undefined;
  } finally {
    await handle?.close();
  }
}

/** Replaces the file in one step. */
export async function writeIndex(file: string, index: StoredIndex): Promise<void> {
  await writeDerivedFile(file, encoded(index));
}

/** In parts, so that it is never in memory as a whole a second time. */
function* encoded({ commits, files, head, vocabulary }: StoredIndex): Generator<Uint8Array> {
  const all: WordCounts[] = [];
  const header: Header = {
    version: VERSION,
    words: vocabulary.words,
    commits,
    head,
    files: Array.from(files, ([hash, words]): [string, ...number[]] => {
      if (words === undefined) {
        return [hash];
      }
      const counts = [words.content, words.definitions, ...words.passages];
      all.push(...counts);
      return [hash, words.size, ...counts.map(({ from, to }) => to - from)];
    }),
  };
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(HEADER_BYTES);
  start.writeUInt32LE(text.length, 0);
  start.writeUInt32LE(checksum(text), CHECKSUM_AT);
  yield start;
  yield text;
  yield* joined(all, ({ words }) => words);
  yield* joined(all, ({ weights }) => weights);
}

/** The numbers of all, in parts. Each part is overwritten by the next one. */
function* joined(
  all: readonly WordCounts[],
  numbersOf: (counts: WordCounts) => WordCounts['words' | 'weights'],
): Generator<Uint8Array> {
  const part = new Uint8Array(PART_BYTES);
  let size = 0;
  for (const counts of all) {
    const { buffer, byteLength, byteOffset } = numbersOf(counts).subarray(counts.from, counts.to);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    if (size + byteLength > PART_BYTES) {
      yield part.subarray(0, size);
      size = 0;
    }
    if (byteLength > PART_BYTES) {
      yield bytes;
    } else {
      part.set(bytes, size);
      size += byteLength;
    }
  }
  yield part.subarray(0, size);
}

async function decoded(file: FileHandle): Promise<StoredIndex | undefined> {
  const { size } = await file.stat();
  if (size > MAX_BYTES) {
    return undefined;
  }
  const start = Buffer.from(await bytesAt(file, 0, HEADER_BYTES));
  const textEnd = HEADER_BYTES + start.readUInt32LE(0);
  // Node ends the whole process if asked for more than 2 GB.
  if (textEnd > size) {
    return undefined;
  }
  const text = new Uint8Array(await bytesAt(file, HEADER_BYTES, textEnd));
  if (checksum(text) !== start.readUInt32LE(CHECKSUM_AT)) {
    return undefined;
  }
  const header = JSON.parse(new TextDecoder().decode(text)) as Header;
  if (header.version !== VERSION) {
    return undefined;
  }
  const count = (size - textEnd) / (Uint32Array.BYTES_PER_ELEMENT + Uint16Array.BYTES_PER_ELEMENT);
  const weightsAt = textEnd + count * Uint32Array.BYTES_PER_ELEMENT;
  const words = new Uint32Array(await bytesAt(file, textEnd, weightsAt));
  const weights = new Uint16Array(await bytesAt(file, weightsAt, size));
  const vocabulary = new Vocabulary(header.words);
  if (words.some(word => word >= header.words.length) || vocabulary.size !== header.words.length) {
    return undefined;
  }
  let at = 0;
  const next = (length: number): WordCounts => {
    const from = at;
    at += length;
    return { words, weights, from, to: at };
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
  const { commits, head } = header;
  return at === count ? { vocabulary, files, commits, head } : undefined;
}

function checksum(text: Uint8Array): number {
  return createHash('sha1').update(text).digest().readUInt32LE(0);
}

/** @throws if the file has fewer */
async function bytesAt(file: FileHandle, from: number, to: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0) {
      throw new Error('The file has ended.');
    }
    at += bytesRead;
  }
  return bytes.buffer;
}
