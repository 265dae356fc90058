import { inWorkOrder } from '../edit/workOrder.ts';
import type { Story } from '../story.ts';

/**
 * The stories of lists that have their turns one after the other, as those of one list: other formats have no such
 * lists. Where the order of the file is another one, the priorities of each list begin behind those before it. Pure.
 *
 * @param lists in the order of their turns; each story is put aside only if the file itself puts it aside
 * @returns the stories in file order
 */
export function inListTurns(lists: readonly (readonly Story[])[]): readonly Story[] {
  const turns = lists.flatMap(list => inWorkOrder(list.filter(isOpen)));
  const order = inWorkOrder(turns);
  const isInTurns = turns.every((story, index) => story === order[index]);
  const stories = isInTurns ? lists.flat() : withLaterPriorities(lists);
  return [...stories].sort((one, other) => one.position - other.position);
}

function withLaterPriorities(lists: readonly (readonly Story[])[]): readonly Story[] {
  const last = lists.findLast(list => list.some(isOpen));
  let highest: number | undefined;
  return lists.flatMap(list => {
    const open = list.filter(isOpen);
    const numbers = open.flatMap(({ priority }) => priority ?? []);
    const isNumbered = numbers.length === open.length;
    // Stories without a priority are the last ones of their list, but not of all lists.
    const behind = numbers.reduce((most, one) => Math.max(most, Math.ceil(one)), 0) + 1;
    const lowest = numbers.reduce((least, one) => Math.min(least, one), behind);
    const shift = highest === undefined ? 0 : Math.max(0, highest + 1 - lowest);
    if (open.length > 0) {
      highest = shift + behind - (isNumbered ? 1 : 0);
    }
    return list.map(story => {
      const priority = story.priority ?? (list === last ? undefined : behind);
      return story.done || priority === undefined
        ? story
        : { ...story, priority: priority + shift };
    });
  });
}

function isOpen({ done }: Story): boolean {
  return !done;
}
