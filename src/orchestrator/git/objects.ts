import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { gitOutput, writeGit } from './runGit.ts';

/** An object of git's store. */
export interface GitObject {
  /** Full hash. */
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The types of objects in a pack, https://git-scm.com/docs/pack-format. */
const PACK_TYPES = { tree: 2, blob: 3 } as const;

/** Git has two kinds of repositories, which differ in the length of their hashes. */
export type HashName = 'sha1' | 'sha256';

/** @param id a full hash of the repository */
export function hashNameOf(id: string): HashName {
  return id.length === 64 ? 'sha256' : 'sha1';
}

/** An object that may not be stored yet. Pure. */
export function newObject(
  type: keyof typeof PACK_TYPES,
  content: Buffer,
  hashName: HashName,
): GitObject {
  const hash = createHash(hashName).update(`${type} ${content.length}\0`).update(content);
  return { id: hash.digest('hex'), type, content };
}

/**
 * Reads objects with one process.
 * @param names in any form that git accepts, such as `<hash>:<path>`
 * @returns for each name the object, or `undefined` if there is none
 * @throws git's message
 */
export async function readObjects(
  dir: string,
  names: readonly string[],
): Promise<(GitObject | undefined)[]> {
  const stdout = await gitOutput(dir, ['--no-optional-locks', 'cat-file', '--batch', '-z'], {
    input: names.map(name => `${name}\0`).join(''),
  });
  let at = 0;
  return names.map(name => {
    const missing = Buffer.from(`${name} missing\n`);
    if (stdout.subarray(at, at + missing.length).equals(missing)) {
      at += missing.length;
      return undefined;
    }
    const end = stdout.indexOf('\n', at);
    const header = stdout.toString('utf8', at, end);
    at = end + 1;
    const [, id = '', type = '', size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(header) ?? [];
    if (size === undefined) {
      // For example a submodule.
      return undefined;
    }
    const content = stdout.subarray(at, at + Number(size));
    at += content.length + 1;
    return { id, type, content };
  });
}

/**
 * Stores objects with one process. Those that exist already are not a problem.
 * @throws git's message
 */
export async function writeObjects(dir: string, objects: readonly GitObject[]): Promise<void> {
  const [first] = objects;
  if (first !== undefined) {
    const input = packOf(objects, hashNameOf(first.id));
    await writeGit(dir, ['unpack-objects', '-q'], { input });
  }
}

/** `git hash-object` and `git mktree` would need a process for each object. */
function packOf(objects: readonly GitObject[], hashName: HashName): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts = objects.flatMap(({ content, type }) => [
    packHeader(type === 'tree' ? PACK_TYPES.tree : PACK_TYPES.blob, content.length),
    deflateSync(content),
  ]);
  const body = Buffer.concat([header, ...parts]);
  return Buffer.concat([body, createHash(hashName).update(body).digest()]);
}

/** Type and size: four bits of the size with the type, then seven bits in each byte, the lowest first. */
function packHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 0x0f);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  bytes.push(byte);
  return Buffer.from(bytes);
}
