import type { Edit } from 'jsonc-parser';
import { type Member, memberOf, membersOf, skipSpace } from './jsonOutline.ts';

/** The edits that give keys of the object at `start` new values: the old ones replaced, or the keys added. */
export function setMembers(
  text: string,
  start: number,
  values: ReadonlyMap<string, boolean | string>,
): Edit[] {
  const members = membersOf(text, start);
  return [...values].map(([key, value]) => {
    const member = memberOf(members, key);
    const content = JSON.stringify(value);
    return member === undefined
      ? insertion(text, start, members, key, content)
      : { offset: member.value.start, length: member.value.end - member.value.start, content };
  });
}

/** A new last member, set apart from the one before it as that one is from its own predecessor. */
function insertion(
  text: string,
  start: number,
  members: readonly Member[],
  key: string,
  content: string,
): Edit {
  const last = members.at(-1);
  if (last === undefined) {
    return { offset: start + 1, length: 0, content: `${JSON.stringify(key)}: ${content}` };
  }
  const previous = members.at(-2);
  const separator =
    previous === undefined
      ? `,${text.slice(start + 1, skipSpace(text, start + 1))}`
      : text.slice(previous.value.end, last.name.start);
  const colon = text.slice(last.name.end, last.value.start);
  return {
    offset: last.value.end,
    length: 0,
    content: separator + JSON.stringify(key) + colon + content,
  };
}
