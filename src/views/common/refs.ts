import * as z from 'zod';
import { once } from '../../base/once.ts';

/** Identifies a story for a command. `folder`: absolute path of the workspace folder. */
export interface StoryRef {
  readonly folder: string;
  readonly storyId: string;
  /** Index among the file's stories, from 0; distinguishes two with the same id. */
  readonly position?: number | undefined;
}

/** Identifies an iteration of a run for a command. */
export interface IterationRef {
  readonly folder: string;
  readonly runId: string;
  /** From 1, in its run. */
  readonly iteration: number;
}

/** Identifies a run for a command. */
export interface RunRef {
  readonly folder: string;
  readonly runId: string;
}

/** Identifies a commit for a command. */
export interface CommitRef {
  readonly folder: string;
  /** Full or abbreviated. */
  readonly hash: string;
}

const storySchema = once(() =>
  refSchema(
    z.looseObject({
      folder: z.string(),
      storyId: z.string(),
      position: z.number().int().nonnegative().optional(),
    }),
  ),
);
const iterationSchema = once(() =>
  refSchema(
    z.looseObject({
      folder: z.string(),
      runId: z.string(),
      iteration: z.number().int().positive(),
    }),
  ),
);
const runSchema = once(() => refSchema(z.looseObject({ folder: z.string(), runId: z.string() })));
const commitSchema = once(() => refSchema(z.looseObject({ folder: z.string(), hash: z.string() })));

/**
 * The target of a command: a ref, or a line of a view, which has its own as `ref`. Commands get whatever a menu, a
 * link or another extension passes.
 */
function refSchema<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return schema.or(z.looseObject({ ref: schema }).transform(({ ref }) => ref));
}

/** @returns `undefined` if the argument identifies none, for example from the palette */
export const parseStoryRef = (argument: unknown): StoryRef | undefined =>
  storySchema().safeParse(argument).data;
/** Like {@link parseStoryRef}, for an iteration. */
export const parseIterationRef = (argument: unknown): IterationRef | undefined =>
  iterationSchema().safeParse(argument).data;
/** Like {@link parseStoryRef}, for a run. */
export const parseRunRef = (argument: unknown): RunRef | undefined =>
  runSchema().safeParse(argument).data;
/** Like {@link parseStoryRef}, for a commit. */
export const parseCommitRef = (argument: unknown): CommitRef | undefined =>
  commitSchema().safeParse(argument).data;
