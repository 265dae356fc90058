import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import type { StoryList } from '../stories/story.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import type { RunFiles } from './runFiles.ts';

/** The story file as it was before an iteration, in the iteration's folder. */
const STORIES_BEFORE = 'stories-before';

/** A larger story file is rejected when it is read. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Copies of the story file as each iteration found it, byte for byte, kept until the iteration is judged. */
export class KeptStories {
  private readonly files: RunFiles;
  private readonly runId: string;
  private readonly storyFile: string | undefined;
  /** Judged iterations; their end events may not have been synced to the disk yet. */
  private readonly judged = new Set<number>();

  /** @param storyFile absolute path; nothing is kept if absent */
  constructor(files: RunFiles, runId: string, storyFile: string | undefined) {
    this.files = files;
    this.runId = runId;
    this.storyFile = storyFile;
  }

  async keep(iteration: number, bytes: Buffer): Promise<void> {
    const file = this.fileOf(iteration);
    if (file !== undefined) {
      await writePlainFile(file, bytes);
    }
  }

  /** @returns `undefined` if there is no copy for this iteration */
  async read(iteration: number): Promise<Buffer | undefined> {
    const file = this.fileOf(iteration);
    return file === undefined ? undefined : readPlainFile(file, MAX_KEPT_BYTES);
  }

  /** Parses the kept bytes as stories; `undefined` if there are none or they cannot be read. */
  parse(bytes: Buffer | undefined): StoryList | undefined {
    const { storyFile } = this;
    const read =
      storyFile === undefined || bytes === undefined ? undefined : parseStoryFile(storyFile, bytes);
    return read?.kind === 'stories' ? read : undefined;
  }

  /** The copy is no longer needed once the end of the iteration is on the disk. */
  noteJudged(iteration: number): void {
    this.judged.add(iteration);
  }

  get hasJudged(): boolean {
    return this.judged.size > 0;
  }

  /**
   * Removes the copies of judged iterations: after a thousand iterations they would fill the disk. Call it once the
   * ends of those iterations are on the disk: before that, a power failure could make it necessary to judge them
   * again.
   */
  async removeJudged(): Promise<void> {
    for (const iteration of [...this.judged]) {
      const dir = this.files.iterationDir(this.runId, iteration);
      for (const name of existsSync(dir) ? readdirSync(dir) : []) {
        if (name.startsWith(`${STORIES_BEFORE}.`) || name === STORIES_BEFORE) {
          await rm(path.join(dir, name), { force: true });
        }
      }
      this.judged.delete(iteration);
    }
  }

  private fileOf(iteration: number): string | undefined {
    return this.storyFile === undefined
      ? undefined
      : path.join(
          this.files.iterationDir(this.runId, iteration),
          `${STORIES_BEFORE}${path.extname(this.storyFile)}`,
        );
  }
}

/**
 * The stories as the interrupted iteration found them; `undefined` without one. The story file itself may be half
 * written.
 */
export async function storiesBeforeCutOff(
  {
    files,
    runId,
    storyFile,
  }: { readonly files: RunFiles; readonly runId: string; readonly storyFile?: string },
  cutOff: { readonly number: number } | undefined,
): Promise<StoryList | undefined> {
  const kept = new KeptStories(files, runId, storyFile);
  return cutOff && kept.parse(await kept.read(cutOff.number));
}
