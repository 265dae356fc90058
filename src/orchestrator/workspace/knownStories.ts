import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { jsonOf } from '../../base/jsonOf.ts';
import { isNumberId } from '../../base/numberId.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { Story } from '../stories/story.ts';
import { isNumbered } from '../stories/storyMatching.ts';
import { storyNow } from '../stories/storyNow.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';

/** In bytes; larger than the largest story file. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Of a title in a message, in UTF-16 units. */
const MAX_NAMED = 100;

/** What a person sees of a story without an id, besides its number in their file. */
export type NamedStory = Pick<Story, 'epic' | 'title'>;

/** What tells a story from others, as it is stored. */
const storySchema = once(() =>
  z.object({
    id: z.string(),
    title: z.string(),
    epic: z.string().optional(),
    description: z.string(),
    criteria: z.array(z.object({ text: z.string() })),
    done: z.boolean(),
    position: z.number().int().nonnegative(),
  }),
);
const versionSchema = once(() =>
  z.object({
    /** How many times the journal has said that numbers have changed. */
    renumberings: z.number().int().nonnegative(),
    stories: z.array(storySchema()),
  }),
);
const fileSchema = once(() => z.array(versionSchema()));

/** A version of the list, with the place in the journal from which on its numbers count. */
export interface KnownVersion {
  readonly renumberings: number;
  readonly stories: readonly Story[];
}

/**
 * Keeps the list whose numbers a run's journal uses. Before numbers change, both lists are kept: the journal says which
 * one counts, also if the loop is killed in between.
 */
export async function keepKnownStories(
  files: RunFiles,
  runId: string,
  versions: readonly KnownVersion[],
): Promise<void> {
  const stored = versions.map(({ renumberings, stories }) => ({
    renumberings,
    stories: stories.map(({ criteria, description, done, epic, id, position, title }) => ({
      ...{ id, title, epic, description, done, position },
      criteria: criteria.map(({ text }) => ({ text })),
    })),
  }));
  await writePlainFile(files.knownStoriesFile(runId), `${JSON.stringify(stored)}\n`);
}

/**
 * The list whose numbers a run's journal uses.
 * @param renumberings of the run's state
 * @returns `undefined` if there is none: every story has an id, or the run is of an earlier version
 */
export async function readKnownStories(
  files: RunFiles,
  runId: string,
  renumberings = 0,
): Promise<readonly Story[] | undefined> {
  const bytes = await readPlainFile(files.knownStoriesFile(runId), MAX_BYTES);
  const parsed = bytes && fileSchema().safeParse(jsonOf(bytes.toString('utf8')));
  return parsed?.data
    ?.find(version => version.renumberings === renumberings)
    ?.stories.map(({ epic, ...story }) => ({
      ...story,
      ...(epic !== undefined && { epic }),
      dependsOn: [],
      line: 1,
    }));
}

/** A story as a person calls it: by its id or its number, and what they see of it. */
export type CalledStory = NamedStory & { readonly id: string };

/**
 * The id that a story of another version of a list has in this one. Pure.
 * @returns `undefined` if it is not certain
 */
export function idIn(list: readonly Story[], story: CalledStory): string | undefined {
  const { id } = story;
  const isOwn = !isNumberId(id) || list.some(known => known.id === id && !isNumbered(known));
  const position = Number(id.slice(1)) - 1;
  return isOwn ? id : storyNow(list.filter(isNumbered), { ...story, position })?.id;
}

/**
 * The ids by which a run's journal knows stories that a person calls by their numbers in their file.
 * @returns gives the id of a story; `undefined` if it is not certain: the list has changed since the run has read it
 */
export async function knownIds(
  files: RunFiles,
  runId: string,
): Promise<(story: CalledStory) => string | undefined> {
  const list = await knownNow(files, runId);
  return story => (list === undefined ? story.id : idIn(list, story));
}

/** {@link knownIds}, of one story. */
export async function knownId(
  files: RunFiles,
  runId: string,
  story: CalledStory,
): Promise<string | undefined> {
  return isNumberId(story.id) ? (await knownIds(files, runId))(story) : story.id;
}

/**
 * {@link knownId}, of a story that a person asks something for.
 * @throws {HumanError} if it is not certain
 */
export async function requireKnownId(
  files: RunFiles,
  runId: string,
  story: CalledStory,
): Promise<string> {
  const id = await knownId(files, runId, story);
  if (id === undefined) {
    throw new HumanError(
      say(
        'The run cannot tell which of its stories "{0}" is: the list has changed since the run has read it. Continue the run, or wait until its agent has ended, and try again.',
        shorten(story.title, MAX_NAMED),
      ),
    );
  }
  return id;
}

/** What a person sees of a story without an id of its own that a run's journal calls by this number. */
export async function namedByRun(
  files: RunFiles,
  runId: string,
  id: string,
): Promise<Story | undefined> {
  const list = isNumberId(id) ? await knownNow(files, runId) : undefined;
  return list?.find(story => story.id === id && isNumbered(story));
}

async function knownNow(files: RunFiles, runId: string): Promise<readonly Story[] | undefined> {
  const { renumberings } = await readRun(files, runId);
  return readKnownStories(files, runId, renumberings);
}
