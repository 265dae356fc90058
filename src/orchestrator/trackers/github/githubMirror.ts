import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { say } from '../../../base/say.ts';
import { HalfWritten } from '../../stories/edit/fileEdit.ts';
import { withoutOutsiders } from '../../stories/formats/issueCopy.ts';
import type { IssueEntry } from './githubIssue.ts';
import { type GithubSource, githubSourceSchema } from './githubSource.ts';

/**
 * The copy of the issues: an ordinary `prd.json` at this path, so that everything that works with a story file works
 * with it.
 */
export const MIRROR_FILE = '.omc/github.json';

type Keys = Readonly<Record<string, unknown>>;

const rootSchema = z.looseObject({
  /** `stamp` identifies what GitHub said when this was written. */
  github: githubSourceSchema.extend({ stamp: z.string().optional() }),
  userStories: z.array(z.looseObject({ id: z.string() })),
});

/**
 * @param file for messages
 * @throws {HalfWritten} if a text is somebody's, not yet whole, or a copy of another repository
 */
export function requireMirrorOf(file: string, text: string, { repository }: GithubSource): void {
  const copied = parseMirror(text)?.github.repository;
  if (copied === undefined) {
    throw new HalfWritten(
      say(
        '{0} is not a copy of issues on GitHub, so it is not written to. Move it elsewhere, or correct it.',
        file,
      ),
    );
  }
  if (copied.toLowerCase() !== repository.toLowerCase()) {
    throw new HalfWritten(
      say(
        '{0} is a copy of the issues of {1}. Move it elsewhere to work on those of {2}.',
        ...[file, copied, repository],
      ),
    );
  }
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
  /** Nobody here has asked GitHub yet: the copy came with the repository, and so did its ticks. */
  readonly isForeign?: boolean;
  /** Whether what outsiders have written stays. */
  readonly includesOutsiders?: boolean;
}

/**
 * The text of the copy with what has changed on GitHub. What did not change there since the last look stays as it is
 * here: a tick, another priority, a key that somebody has added. So do the order and unknown keys. Pure.
 * @param text of the copy; `undefined` if there is none
 * @throws if it is not a copy
 */
export function mergeMirror(text: string | undefined, merge: MirrorMerge): string {
  const before = text === undefined ? undefined : parseMirror(text);
  if (text !== undefined && before === undefined) {
    throw new Error('This is not a copy of issues');
  }
  const base = merge.isForeign ? new Map<string, IssueEntry>() : baseOf(before, merge);
  const known = new Map(before?.userStories.map(story => [story.id, story]));
  const listed = new Set(merge.entries.map(({ id }) => id));
  const entries = new Map(merge.entries.map(entry => [entry.id, entry]));
  const stories: Keys[] = [];
  for (const story of before?.userStories ?? []) {
    const entry = entries.get(story.id);
    if (entry !== undefined) {
      stories.push(mergeEntry(story, entry, base.get(story.id), merge.isForeign));
    } else if (merge.keep.has(story.id) || !isOurs(story)) {
      stories.push(story);
    }
  }
  stories.push(...merge.entries.filter(({ id }) => listed.has(id) && !known.has(id)));
  const whole = {
    ...(before ?? { project: merge.source.repository }),
    github: { ...merge.source, stamp: stampOf(merge.entries) },
    userStories: stories,
  };
  // What did not change on GitHub may be here from a time with another setting.
  const root = merge.includesOutsiders === true ? whole : withoutOutsiders(whole);
  return written(text, before, root);
}

/**
 * The text of the copy without what outsiders have written. Pure.
 * @throws if it is not a copy
 */
export function mirrorWithoutOutsiders(text: string): string {
  const before = parseMirror(text);
  if (before === undefined) {
    throw new Error('This is not a copy of issues');
  }
  return written(text, before, withoutOutsiders(before));
}

/** Somebody may have formatted what is there, so it stays as it is if nothing changes. */
function written(text: string | undefined, before: unknown, root: unknown): string {
  return text !== undefined && isDeepStrictEqual(root, before)
    ? text
    : `${JSON.stringify(root, null, 2)}\n`;
}

/**
 * What GitHub said when this copy was written. Somebody may have put an older copy back (a checkout, an agent, the
 * guard): what has changed on GitHub since then is not in it, although we have written it before.
 */
function baseOf(
  before: z.infer<typeof rootSchema> | undefined,
  { base, entries }: MirrorMerge,
): ReadonlyMap<string, IssueEntry> {
  const stamp = before?.github.stamp;
  if (stamp === undefined || stamp === stampOf([...base.values()])) {
    return base;
  }
  // We were killed before we could note it.
  return new Map(stamp === stampOf(entries) ? entries.map(entry => [entry.id, entry]) : []);
}

function stampOf(entries: readonly IssueEntry[]): string {
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 16);
}

/** A story without the number of an issue was added by a person. */
function isOurs(story: Keys): boolean {
  return typeof story['number'] === 'number';
}

function mergeEntry(
  here: Keys,
  there: IssueEntry,
  base: IssueEntry | undefined,
  isForeign = false,
): Keys {
  const merged: Record<string, unknown> = { ...here };
  for (const key of OUR_KEYS) {
    const isNews =
      base === undefined
        ? isNewsWithoutNotes(key, { here, there, isForeign })
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

/**
 * After the loss of our notes: what is done on either side is done, and a priority here stays if there is none there.
 * Ticks that came with the repository do not count: they would be said on GitHub in the person's name.
 */
function isNewsWithoutNotes(
  key: string,
  {
    here,
    isForeign,
    there,
  }: { readonly here: Keys; readonly there: IssueEntry; readonly isForeign: boolean },
): boolean {
  return key === 'passes'
    ? isForeign || here[key] !== true
    : key !== 'priority' || there[key] !== undefined;
}

/** The keys that an issue can have here; all others are somebody's. */
const OUR_KEYS = [
  ...['title', 'description', 'acceptanceCriteria', 'priority', 'dependsOn', 'epic', 'parked'],
  ...['passes', 'number', 'url', 'labels', 'author', 'association'],
] as const;
