import { literal, memberSpan, removePart } from '../edit/jsonEdit.ts';
import { elementsOf, memberOf, membersOf, type Span } from './jsonOutline.ts';
import { dependencyId } from './prdEntry.ts';
import { DEPENDENCY_KEYS } from './prdKeys.ts';
import type { DependencyPart, StoryPart, StoryParts } from './storyFormat.ts';

/** How a format whose stories are JSON objects names other stories. */
interface Naming {
  readonly keys: readonly string[];
  /** In a dependency that is an object, the key of the id. */
  readonly idKey: string;
  /** The story that a dependency means; `undefined` if it is none. */
  readonly read: (value: unknown, position: number) => string | undefined;
  /** An id as a story names it. */
  readonly nameOf: (id: string, position: number) => string;
  readonly openWord: string;
  /** The tool makes the ids: two stories with one id are probably the same one, and similar ids mean nothing. */
  readonly hasFixedIds?: boolean;
}

const USUAL: Naming = {
  keys: DEPENDENCY_KEYS,
  idKey: 'id',
  read: dependencyId,
  nameOf: id => id,
  openWord: 'pending',
};

/** The parts of stories that are JSON objects. @param startOf where the object of a story begins */
export function jsonParts(
  text: string,
  startOf: (position: number) => number | undefined,
  naming: Partial<Naming> = {},
): StoryParts {
  const { hasFixedIds = false, idKey, keys, nameOf, openWord, read } = { ...USUAL, ...naming };
  const members = (position: number) => {
    const start = startOf(position);
    return start === undefined ? [] : membersOf(text, start);
  };
  const write = (span: Span, position: number) => (value: string) => {
    const name = nameOf(value, position);
    const isNumber = text[span.start] !== '"' && /^[1-9]\d{0,14}$/.test(name);
    const content = isNumber ? name : literal(name);
    return { offset: span.start, length: span.end - span.start, content };
  };

  function field(position: number, key = 'status'): StoryPart | undefined {
    const all = members(position);
    const member = memberOf(all, key);
    return (
      member && {
        span: member.value,
        whole: memberSpan(member),
        write: !(key === 'id' && hasFixedIds) ? write(member.value, position) : undefined,
        removal: removePart(all.map(memberSpan), all.indexOf(member)),
      }
    );
  }

  function dependencies(position: number): DependencyPart[] {
    return keys.flatMap(key => {
      const found = field(position, key);
      if (found === undefined) {
        return [];
      }
      const isList = text[found.span.start] === '[';
      const elements = isList ? elementsOf(text, found.span.start) : [found.span];
      return elements.flatMap((whole, index) => {
        const id = read(JSON.parse(text.slice(whole.start, whole.end)), position);
        const span =
          text[whole.start] === '{' ? memberOf(membersOf(text, whole.start), idKey)?.value : whole;
        const removal = isList ? removePart(elements, index) : found.removal;
        return id === undefined || span === undefined
          ? []
          : [{ id, span, whole, removal, write: !hasFixedIds ? write(span, position) : undefined }];
      });
    });
  }

  return { field, dependencies, openWord };
}
