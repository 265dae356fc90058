import { applyEdits, type Edit } from 'jsonc-parser';
import { memberOf, membersOf, type Span } from '../formats/jsonOutline.ts';
import { indexBeside, moveBlock } from '../formats/textBlocks.ts';
import type { Story } from '../story.ts';
import { memberSpan, removePart, setMembers } from './jsonEdit.ts';
import { inWorkOrder, movedOrder, prioritiesFor, type Side } from './workOrder.ts';

const KEY = 'priority';

/** A list of JSON objects with stories. */
export interface EntryList {
  readonly text: string;
  readonly stories: readonly Story[];
  /** The positions of the objects in a version of the text, by story position. */
  readonly spansOf: (text: string) => readonly Span[];
  /** Priorities are classes with a meaning (P0 to P4), not consecutive numbers. */
  readonly hasClasses?: boolean;
}

/** As written; absent if the file has none. */
type Priority = number | string | undefined;
type Move = readonly [story: Story, target: Story, side: Side];

/**
 * Changes a story's turn: with new numbers if priorities are numbers; otherwise with the other story's priority
 * and, if necessary, another position in the file. Pure; returns the new text.
 */
export function moveEntry(list: EntryList, move: Move): string {
  const { stories, text } = list;
  const [story] = move;
  if (!list.hasClasses && hasOnlyNumbers(list)) {
    const order = movedOrder(inWorkOrder(stories), ...move);
    return withPriorities(list, prioritiesFor(order, story));
  }
  const [, target] = move;
  const changed =
    story.priority === target.priority
      ? text
      : withPriorities(list, new Map([[story, priorityText(list, target)]]));
  return isInPlace(stories, move) ? changed : moveObject(list.spansOf(changed), changed, move);
}

function hasOnlyNumbers({ text, stories, spansOf }: EntryList): boolean {
  if (stories.every(({ priority }) => priority === undefined)) {
    return false;
  }
  const spans = spansOf(text);
  return stories.every(({ position, priority }) => {
    const literal = literalOf(text, spans[position]);
    return priority === undefined || literal?.startsWith('"') !== true;
  });
}

function literalOf(text: string, span: Span | undefined): string | undefined {
  const value = span && memberOf(membersOf(text, span.start), KEY)?.value;
  return value && text.slice(value.start, value.end);
}

/** The priority as written in the file, even if it is a word. */
function priorityText({ text, spansOf }: EntryList, { position }: Story): Priority {
  const value: unknown = JSON.parse(literalOf(text, spansOf(text)[position]) ?? 'null');
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}

function withPriorities(
  { text, spansOf }: EntryList,
  priorities: ReadonlyMap<Story, Priority>,
): string {
  const spans = spansOf(text);
  const edits = [...priorities].flatMap(([{ position }, priority]) => {
    const start = spans[position]?.start ?? 0;
    return priority === undefined
      ? withoutKey(text, start)
      : setMembers(text, start, new Map([[KEY, priority]]));
  });
  return applyEdits(text, edits);
}

function withoutKey(text: string, start: number): Edit[] {
  const members = membersOf(text, start);
  const index = members.findLastIndex(({ key }) => key === KEY);
  return index === -1 ? [] : [removePart(members.map(memberSpan), index)];
}

/** Whether the target's priority alone gives the story the desired turn. */
function isInPlace(stories: readonly Story[], [story, target, side]: Move): boolean {
  const { priority: _, ...rest } = story;
  const { priority } = target;
  const moved = { ...rest, priority };
  const order = inWorkOrder(stories.map(other => (other === story ? moved : other)));
  const at = order.indexOf(moved);
  return order[side === 'before' ? at + 1 : at - 1] === target;
}

function moveObject(spans: readonly Span[], text: string, [story, target, side]: Move): string {
  const { position: from } = story;
  return moveBlock(text, spans, from, indexBeside(from, target.position, side));
}
