import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { IssueEntry } from './githubIssue.ts';
import { type GithubSource, githubSourceSchema } from './githubSource.ts';

/**
 * The copy of the issues: an ordinary `prd.json` at this path, so that everything that works with a story file works
 * with it.
 */
export const MIRROR_FILE = '.omc/github.json';

type Keys = Readonly<Record<string, unknown>>;

const rootSchema = z.looseObject({
  github: githubSourceSchema,
  userStories: z.array(z.looseObject({ id: z.string() })),
});

/** @returns which issues a text is a copy of; `undefined` if it is something else */
export function sourceOfMirror(text: string): GithubSource | undefined {
  return parseMirror(text)?.github;
}

/** The parsed text itself, because what a schema returns has its keys in another order. */
function parseMirror(text: string): z.infer<typeof rootSchema> | undefined {
  try {
    const root: unknown = JSON.parse(text);
    return isRoot(root) ? root : undefined;
  } catch {
    return undefined;
  }
}

function isRoot(root: unknown): root is z.infer<typeof rootSchema> {
  return rootSchema.safeParse(root).success;
}

export interface MirrorMerge {
  readonly source: GithubSource;
  /** The issues as they are on GitHub now, in order of their numbers. */
  readonly entries: readonly IssueEntry[];
  /** As they were there at the last look, by id; empty if that is not known. */
  readonly base: ReadonlyMap<string, IssueEntry>;
  /** Ids of stories that stay although GitHub does not list them any more. */
  readonly keep: ReadonlySet<string>;
}

/**
 * The text of the copy with what has changed on GitHub. What did not change there since the last look stays as it is
 * here: a tick, another priority, a key that somebody has added. So do the order and unknown keys. Pure.
 * @param text of the copy; `undefined` if there is none
 */
export function mergeMirror(text: string | undefined, merge: MirrorMerge): string {
  const before = text === undefined ? undefined : parseMirror(text);
  const known = new Map(before?.userStories.map(story => [story.id, story]));
  const listed = new Set(merge.entries.map(({ id }) => id));
  const entries = new Map(merge.entries.map(entry => [entry.id, entry]));
  const stories: Keys[] = [];
  for (const story of before?.userStories ?? []) {
    const entry = entries.get(story.id);
    if (entry !== undefined) {
      stories.push(mergeEntry(story, entry, merge.base.get(story.id)));
    } else if (merge.keep.has(story.id) || !isOurs(story)) {
      stories.push(story);
    }
  }
  stories.push(...merge.entries.filter(({ id }) => listed.has(id) && !known.has(id)));
  const root = {
    ...(before ?? { project: merge.source.repository }),
    github: merge.source,
    userStories: stories,
  };
  // Somebody may have formatted it.
  return text !== undefined && isDeepStrictEqual(root, before)
    ? text
    : `${JSON.stringify(root, null, 2)}\n`;
}

/** A story without the number of an issue was added by a person. */
function isOurs(story: Keys): boolean {
  return typeof story['number'] === 'number';
}

function mergeEntry(here: Keys, there: IssueEntry, base: IssueEntry | undefined): Keys {
  const merged: Record<string, unknown> = { ...here };
  for (const key of OUR_KEYS) {
    const isNews =
      base === undefined
        ? isNewsWithoutNotes(key, here, there)
        : !isDeepStrictEqual(base[key], there[key]);
    if (!isNews) {
      continue;
    }
    if (there[key] === undefined) {
      delete merged[key];
    } else {
      merged[key] = there[key];
    }
  }
  return merged;
}

/** After the loss of our notes: what is done on either side is done, and a priority here stays if there is none there. */
function isNewsWithoutNotes(key: string, here: Keys, there: IssueEntry): boolean {
  return key === 'passes' ? here[key] !== true : key !== 'priority' || there[key] !== undefined;
}

/** The keys that an issue can have here; all others are somebody's. */
const OUR_KEYS = [
  ...['title', 'description', 'acceptanceCriteria', 'priority', 'dependsOn', 'epic', 'parked'],
  ...['passes', 'number', 'url', 'labels', 'author', 'association'],
] as const;
