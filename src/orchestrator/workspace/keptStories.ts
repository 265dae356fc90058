import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import type { StoryFile, StoryList } from '../stories/story.ts';
import { MAX_STORY_FILE_BYTES, parseStoryFile, readStoryBytes } from '../stories/storyFile.ts';
import type { RunFiles } from './runFiles.ts';

/** The story file as it was before an iteration, in the iteration's folder. */
const STORIES_BEFORE = 'stories-before';
/** The story file as an iteration left it that is not judged yet, next to it. */
const STORIES_LEFT = 'stories-left';

/**
 * Copies of the story file as each iteration found it, and as an interrupted one left it, byte for byte, kept until
 * the iteration is judged.
 */
export class KeptStories {
  private readonly files: RunFiles;
  private readonly runId: string;
  private readonly storyFile: string | undefined;
  /** Judged iterations; their end events may not have been synced to the disk yet. */
  private readonly judgedIterations = new Set<number>();

  /** @param storyFile absolute path; nothing is kept if absent */
  constructor(files: RunFiles, runId: string, storyFile: string | undefined) {
    this.files = files;
    this.runId = runId;
    this.storyFile = storyFile;
  }

  async keep(iteration: number, bytes: Buffer): Promise<void> {
    const file = this.fileOf(iteration, STORIES_BEFORE);
    if (file !== undefined) {
      await writePlainFile(file, bytes);
    }
  }

  /**
   * Keeps the story file as an interrupted iteration leaves it: what others change before the iteration is judged is
   * not its work. Call it only the first time it is interrupted. What is there already was put there by an agent.
   */
  async keepLeft(iteration: number): Promise<void> {
    const file = this.fileOf(iteration, STORIES_LEFT);
    if (file === undefined || this.storyFile === undefined) {
      return;
    }
    await rm(file, { force: true });
    // A missing or strange file is judged as it is then.
    const bytes = await readStoryBytes(this.storyFile);
    if (bytes !== undefined) {
      await writePlainFile(file, bytes);
    }
  }

  /** @returns `undefined` if there is no copy of what this iteration left */
  async readLeft(iteration: number): Promise<Buffer | undefined> {
    const file = this.fileOf(iteration, STORIES_LEFT);
    return file === undefined ? undefined : readPlainFile(file, MAX_STORY_FILE_BYTES);
  }

  /** @returns `undefined` if there is no copy for this iteration */
  async read(iteration: number): Promise<Buffer | undefined> {
    const file = this.fileOf(iteration, STORIES_BEFORE);
    return file === undefined ? undefined : readPlainFile(file, MAX_STORY_FILE_BYTES);
  }

  /** Parses the kept bytes as stories; `undefined` if there are none or they cannot be read. */
  parse(bytes: Buffer | undefined): StoryList | undefined {
    const read = bytes && this.parseAny(bytes);
    return read?.kind === 'stories' ? read : undefined;
  }

  /** Like {@link parse}, but also what makes the bytes unreadable. */
  parseAny(bytes: Buffer): StoryFile | undefined {
    return this.storyFile === undefined ? undefined : parseStoryFile(this.storyFile, bytes);
  }

  /** The copy is no longer needed once the end of the iteration is on the disk. */
  noteJudged(iteration: number): void {
    this.judgedIterations.add(iteration);
  }

  /** The iterations that were judged so far and whose copies may still be there. */
  get judged(): readonly number[] {
    return [...this.judgedIterations];
  }

  /**
   * Removes the copies of judged iterations: after a thousand iterations they would fill the disk. Call it once the
   * ends of those iterations are on the disk: before that, a power failure could make it necessary to judge them
   * again.
   */
  async removeJudged(judged: readonly number[]): Promise<void> {
    for (const iteration of judged) {
      const dir = this.files.iterationDir(this.runId, iteration);
      for (const name of existsSync(dir) ? readdirSync(dir) : []) {
        if ([STORIES_BEFORE, STORIES_LEFT].includes(path.parse(name).name)) {
          await rm(path.join(dir, name), { force: true });
        }
      }
      this.judgedIterations.delete(iteration);
    }
  }

  private fileOf(iteration: number, name: string): string | undefined {
    return this.storyFile === undefined
      ? undefined
      : path.join(
          this.files.iterationDir(this.runId, iteration),
          `${name}${path.extname(this.storyFile)}`,
        );
  }
}

/**
 * The stories as an interrupted iteration found them, and as it left them: the story file itself may be half written,
 * or changed by others since then.
 * @param cutOff the iteration, in the run with this id
 * @returns nothing where there is no copy, or none that can be read
 */
export async function storiesOfCutOff(
  {
    files,
    runId,
    storyFile,
  }: { readonly files: RunFiles; readonly runId: string; readonly storyFile?: string },
  cutOff: { readonly number: number } | undefined,
): Promise<{ readonly before?: StoryList; readonly left?: StoryList }> {
  if (cutOff === undefined) {
    return {};
  }
  const kept = new KeptStories(files, runId, storyFile);
  return {
    before: kept.parse(await kept.read(cutOff.number)),
    left: kept.parse(await kept.readLeft(cutOff.number)),
  };
}
