import { type Entry, isDone, isEntry } from './prdEntry.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DESCRIPTION_KEYS,
  LIST_KEYS,
  TITLE_KEYS,
} from './prdKeys.ts';

/** Who may be trusted with what an agent reads: people who can change the repository anyway. */
const INSIDERS: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** @param association of an author, as GitHub or a copy says it; anything else is that of an outsider */
export function isInsider(association: unknown): boolean {
  return typeof association === 'string' && INSIDERS.has(association);
}

/** Whether the root of a list says that its stories are issues, wherever its file is and whoever has made it. */
export function isIssueCopy(root: unknown): root is Entry {
  return isEntry(root) && isEntry(root['github']);
}

/** An issue without its text. */
interface IssueFacts {
  readonly number: unknown;
  readonly author: unknown;
  readonly association: unknown;
  readonly url: unknown;
}

/** What is said of an issue of an outsider in the place of its title. */
export function outsiderTitle({ association, author, number }: IssueFacts): string {
  const name = wordOf(author, /^[\w-]{1,60}(?:\[bot\])?$/) ?? 'ghost';
  const role = wordOf(association, /^[A-Z_]{1,40}$/) ?? 'UNKNOWN';
  return `Issue #${Number.isSafeInteger(number) ? number : '?'} by ${name} (${role}, not a member)`;
}

/** Title and description of an issue whose author is an outsider: no word of it. */
export function withheldText(issue: IssueFacts): {
  readonly title: string;
  readonly description: string;
} {
  const place = wordOf(issue.url, /^https?:\/\/[\w./:-]{1,400}$/) ?? 'GitHub';
  return {
    title: outsiderTitle(issue),
    description: `Its text is left out, because its author is not a member or collaborator of the repository. Read it at ${place}. To have such issues worked on, write an issue of your own, or use --github-outsiders.`,
  };
}

/** A copy may say anything in these places, so they take only what cannot be a sentence. */
function wordOf(value: unknown, shape: RegExp): string | undefined {
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}

/** Keys from which the text of a story is read, or what it waits for, which an issue says in its text. */
const TEXT_KEYS: ReadonlySet<string> = new Set([
  ...[...TITLE_KEYS, ...DESCRIPTION_KEYS, ...CRITERIA_KEYS, ...DEPENDENCY_KEYS],
]);
/** Keys that only an issue has: a story without them was added by a person or an agent. */
const ISSUE_KEYS = ['number', 'url', 'author', 'association'] as const;

/**
 * The root of a list, in which the issues of outsiders are put aside without their text, if the list is a copy of issues;
 * any other root as it is. Both the copying and the reading do this: a copy may have been made with another setting, or by
 * somebody else. Pure.
 */
export function withoutOutsiders<Root>(root: Root): Root {
  if (!isIssueCopy(root)) {
    return root;
  }
  const lists = LIST_KEYS.flatMap(key => {
    const list: unknown = root[key];
    return Array.isArray(list) && list.some(isOfOutsider) ? [[key, list.map(withheld)]] : [];
  });
  return lists.length === 0 ? root : { ...root, ...Object.fromEntries(lists) };
}

/** Whether it is an issue whose author is not known as an insider. */
function isOfOutsider(entry: unknown): entry is Entry {
  return (
    isEntry(entry) &&
    !isInsider(entry['association']) &&
    (ISSUE_KEYS.some(key => Object.hasOwn(entry, key)) || numberInId(entry) !== undefined)
  );
}

function numberInId({ id }: Entry): number | undefined {
  const found = typeof id === 'string' ? /^GH-(\d{1,10})$/i.exec(id)?.[1] : undefined;
  return found === undefined ? undefined : Number(found);
}

function withheld(entry: unknown): unknown {
  if (!isOfOutsider(entry)) {
    return entry;
  }
  const { association, author, number, url } = { ...NO_FACTS, ...entry };
  const text = withheldText({ association, author, number: number ?? numberInId(entry), url });
  // In the order of the keys, so that a file in which nothing has to change stays the same.
  const kept = Object.entries({ ...text, ...entry }).flatMap(([key, value]) =>
    key === 'title' || key === 'description'
      ? [[key, text[key]]]
      : TEXT_KEYS.has(key)
        ? []
        : [[key, value]],
  );
  return { ...Object.fromEntries(kept), ...(!isDone(entry) && { parked: true }) };
}

const NO_FACTS: IssueFacts = {
  ...{ association: undefined, author: undefined, number: undefined, url: undefined },
};
