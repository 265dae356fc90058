import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { HumanError } from '../../base/humanError.ts';
import { saidOf } from '../../base/messageOf.ts';
import type { Words } from '../../base/say.ts';
import type { CodePointers, PointerQuery } from './codePointers.ts';
import type { DuplicateReport } from './duplicates/duplicate.ts';
import type { CommitRange } from './duplicates/findDuplicates.ts';
import type { SearchAnswer, SearchRequest } from './searchWorker.ts';

/** Of the thread; most of an index is outside of the heap. */
const MAX_HEAP_MB = 400;
/** Building an index leaves much garbage; by default, a hundred megabytes of it may be waiting. */
const MAX_YOUNG_MB = 12;

/**
 * Finds what matters in the code for a story, and what new code repeats. The index and the parsers live in a thread of
 * their own, so that nothing waits for them.
 */
export class CodeSearch {
  private readonly folder: string | undefined;
  private readonly wait: boolean;
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, (answer: SearchAnswer) => void>();
  private last = 0;

  /**
   * @param folder of the index and of what was learned, absolute; absent: nothing is written
   * @param wait whether to wait for an index that takes its time; otherwise it is built in parallel with whatever comes next
   */
  constructor(folder: string | undefined, { wait }: { readonly wait: boolean }) {
    this.folder = folder;
    this.wait = wait;
  }

  /**
   * @returns `undefined` if there is no index yet
   * @throws if the repository cannot be read
   */
  async pointers(query: PointerQuery): Promise<CodePointers | undefined> {
    const answer = await this.ask({ kind: 'find', query, wait: this.wait });
    return answer.pointers;
  }

  /** Starts the thread, in parallel with whatever comes next; a process does not live on for it. */
  start(): void {
    this.running().unref();
  }

  /** Brings the index to a commit, in parallel with whatever comes next, unless that takes its time. */
  follow(dir: string, commit: string): void {
    // Whoever asks for pointers is told what is wrong.
    this.ask({ kind: 'follow', dir, commit }).catch(() => undefined);
  }

  /** Remembers what an agent was given and what it used; paths are relative to its folder. */
  async remember(
    dir: string,
    use: {
      readonly title: string;
      readonly given: readonly string[];
      readonly used: readonly string[];
    },
  ): Promise<void> {
    await this.ask({ kind: 'remember', dir, use });
  }

  /**
   * What new functions and files repeat.
   * @param dir absolute path of a folder in the repository
   * @throws if the repository cannot be read
   */
  async duplicates(dir: string, range: CommitRange): Promise<DuplicateReport | undefined> {
    const answer = await this.ask({ kind: 'duplicates', dir, range });
    return answer.duplicates;
  }

  /** Ends the thread; what is being written is written anew another time. */
  async dispose(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
    this.fail('The search has ended.');
  }

  private async ask(request: SearchRequest): Promise<Extract<SearchAnswer, { ok: true }>> {
    const worker = this.running();
    this.last += 1;
    const id = this.last;
    const answer = await new Promise<SearchAnswer>(resolve => {
      this.waiting.set(id, resolve);
      worker.ref();
      worker.postMessage({ id, request });
    });
    // A process must not live on only for its index, but until the thread has ended if somebody waits for that.
    if (this.waiting.size === 0 && this.worker === worker) {
      worker.unref();
    }
    if (!answer.ok) {
      const { problem } = answer;
      throw typeof problem === 'string' ? new Error(problem) : new HumanError(problem);
    }
    return answer;
  }

  private running(): Worker {
    if (this.worker === undefined) {
      const worker = new Worker(searchProgram(), {
        workerData: this.folder,
        resourceLimits: {
          maxOldGenerationSizeMb: MAX_HEAP_MB,
          maxYoungGenerationSizeMb: MAX_YOUNG_MB,
        },
      });
      worker.on('message', ({ answer, id }: { id: number; answer: SearchAnswer }) => {
        const resolve = this.waiting.get(id);
        this.waiting.delete(id);
        resolve?.(answer);
      });
      worker.on('error', error => {
        this.worker = undefined;
        this.fail(saidOf(error));
      });
      worker.on('exit', () => {
        if (this.worker === worker) {
          this.worker = undefined;
          this.fail('The search ended unexpectedly.');
        }
      });
      this.worker = worker;
    }
    return this.worker;
  }

  private fail(problem: Words): void {
    for (const resolve of this.waiting.values()) {
      resolve({ ok: false, problem });
    }
    this.waiting.clear();
  }
}

function searchProgram(): string {
  const name = import.meta.filename.endsWith('.ts') ? 'searchWorker.ts' : 'search-worker.cjs';
  return path.join(import.meta.dirname, name);
}
