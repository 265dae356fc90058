import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { saidOf } from '../../base/messageOf.ts';
import type { Words } from '../../base/say.ts';
import { type CodePointers, codePointers, type PointerQuery, prefixOf } from './codePointers.ts';
import type { DuplicateReport } from './duplicates/duplicate.ts';
import { type CommitRange, findDuplicates } from './duplicates/findDuplicates.ts';
import { LiveIndex } from './liveIndex.ts';
import { type PastUse, readUses, rememberUse } from './pastUses.ts';
import { pinEntries } from './pin/pinEntries.ts';
import { readPinText } from './pin/pinPlace.ts';

/** What the thread is asked for. */
export type SearchRequest =
  | { readonly kind: 'find'; readonly query: PointerQuery; readonly wait: boolean }
  | { readonly kind: 'follow'; readonly dir: string; readonly commit: string }
  | { readonly kind: 'remember'; readonly dir: string; readonly use: Omit<PastUse, 'time'> }
  | { readonly kind: 'duplicates'; readonly dir: string; readonly range: CommitRange };

/** Its answer; without pointers if the index is not there yet. */
export type SearchAnswer =
  | { readonly ok: true; readonly pointers?: CodePointers; readonly duplicates?: DuplicateReport }
  | { readonly ok: false; readonly problem: Words };

const INDEX_NAME = 'index.bin';
const USES_NAME = 'uses.json';

/** The program of the thread: one request to the index after the other. */
class SearchProgram {
  private readonly live: LiveIndex;
  private readonly usesFile: string | undefined;
  private readonly prefixes = new Map<string, string>();
  private uses: Promise<PastUse[]> | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(folder: string | undefined) {
    this.live = new LiveIndex(folder && path.join(folder, INDEX_NAME));
    this.usesFile = folder && path.join(folder, USES_NAME);
  }

  async answer(request: SearchRequest): Promise<SearchAnswer> {
    try {
      switch (request.kind) {
        case 'find':
          return await this.find(request.query, request.wait);
        case 'follow':
          return await this.inTurn(() => this.follow(request));
        case 'remember':
          return await this.inTurn(() => this.remember(request));
        case 'duplicates':
          return { ok: true, duplicates: await this.duplicates(request) };
      }
    } catch (error) {
      return { ok: false, problem: saidOf(error) };
    }
  }

  private async find(query: PointerQuery, wait: boolean): Promise<SearchAnswer> {
    const pointers = async (): Promise<SearchAnswer> => {
      const { prefix, uses } = await this.factsOf(query.dir);
      const index = await this.live.at(query.dir, query.commit, uses, prefix);
      const pin = pinEntries((await readPinText(query.dir)) ?? '');
      return { ok: true, pointers: await codePointers(index, query, uses, prefix, pin) };
    };
    const isNear = await this.inTurn(() => this.live.isNear(query.dir, query.commit));
    const found = this.inTurn(pointers);
    if (wait || isNear) {
      return found;
    }
    // The next one who asks is told of a failure.
    found.catch(() => undefined);
    return { ok: true };
  }

  /** Needs no index, so it does not wait for its turn. */
  private async duplicates({
    dir,
    range,
  }: Extract<SearchRequest, { kind: 'duplicates' }>): Promise<DuplicateReport> {
    return findDuplicates(dir, range, await this.prefixOf(dir));
  }

  private async follow({
    commit,
    dir,
  }: Extract<SearchRequest, { kind: 'follow' }>): Promise<SearchAnswer> {
    if (await this.live.isNear(dir, commit)) {
      const { prefix, uses } = await this.factsOf(dir);
      await this.live.follow(dir, commit, uses, prefix);
    }
    return { ok: true };
  }

  private async factsOf(
    dir: string,
  ): Promise<{ readonly uses: readonly PastUse[]; readonly prefix: string }> {
    this.uses ??= this.usesFile === undefined ? Promise.resolve([]) : readUses(this.usesFile);
    return { uses: await this.uses, prefix: await this.prefixOf(dir) };
  }

  private async remember({
    dir,
    use,
  }: Extract<SearchRequest, { kind: 'remember' }>): Promise<SearchAnswer> {
    const prefix = await this.prefixOf(dir);
    const fromRoot = (files: readonly string[]) =>
      files.map(file => path.posix.normalize(path.posix.join(prefix, file)));
    const time = Math.round(Date.now() / 1_000);
    const { given, title, used } = use;
    if (this.usesFile === undefined) {
      return { ok: true };
    }
    this.uses = rememberUse(this.usesFile, {
      ...{ time, title, given: fromRoot(given), used: fromRoot(used) },
    });
    await this.uses;
    return { ok: true };
  }

  private async prefixOf(dir: string): Promise<string> {
    const known = this.prefixes.get(dir) ?? (await prefixOf(dir));
    this.prefixes.set(dir, known);
    return known;
  }

  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.queue.then(step);
    this.queue = result.catch(() => undefined);
    return result;
  }
}

if (parentPort !== null) {
  const program = new SearchProgram(typeof workerData === 'string' ? workerData : undefined);
  const port = parentPort;
  port.on('message', async ({ id, request }: { id: number; request: SearchRequest }) => {
    port.postMessage({ id, answer: await program.answer(request) });
  });
}
