import { type JsonValue, literal, setMembers } from '../edit/jsonEdit.ts';
import type { Member } from '../formats/jsonOutline.ts';
import type { PrdDocument } from './prdDocument.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/** Adds a missing field to a story. @param isFirst it is inserted before the others */
export function addField(
  document: PrdDocument,
  position: number,
  key: string,
  value: JsonValue,
  isFirst: boolean,
): StoryFix {
  const { start } = document.span(position);
  const [first] = document.members(position);
  const isNew = document.member(position, key) === undefined;
  const edits =
    isFirst && isNew && first !== undefined
      ? [
          {
            offset: first.name.start,
            length: 0,
            content: `${JSON.stringify(key)}: ${literal(value)},${separatorOf(document, start, first)}`,
          },
        ]
      : setMembers(document.text, start, new Map([[key, value]]));
  return {
    kind: key === 'id' ? 'giveId' : 'addField',
    values: [key === 'id' ? String(value) : key],
    edits,
    isClear: key === 'id',
  };
}

/** The text between the opening brace and the first member, which also separates members. */
function separatorOf({ text }: PrdDocument, start: number, first: Member): string {
  return text.slice(start + 1, first.name.start) || ' ';
}

/** Changes the value of a field. */
export function setValue(
  document: PrdDocument,
  position: number,
  key: string,
  value: JsonValue,
  isClear: boolean,
): StoryFix {
  const edits = setMembers(document.text, document.span(position).start, new Map([[key, value]]));
  return { kind: 'setValue', values: [key, literal(value)], edits, isClear };
}

/** Changes the key of a member, and its value unless that is `undefined`. */
export function replaceKey(
  document: PrdDocument,
  position: number,
  from: string,
  to: string,
  value: boolean | undefined,
): StoryFix[] {
  const member = document.member(position, from);
  if (member === undefined) {
    return [];
  }
  const { name, value: old } = member;
  const rename = { offset: name.start, length: name.end - name.start, content: JSON.stringify(to) };
  const edits =
    value === undefined
      ? [rename]
      : [rename, { offset: old.start, length: old.end - old.start, content: String(value) }];
  return [{ kind: 'renameKey', values: [from, to], edits, isClear: true }];
}
