import { takeFreeId } from '../diagnosis/ids.ts';
import type { Story } from '../story.ts';

/** What stands before the title of a new item of a plan: the next id, written as in the last item, or nothing. */
export function nextLabel(stories: readonly Pick<Story, 'id' | 'title'>[]): string {
  const last = stories.at(-1);
  if (last === undefined || !last.title.startsWith(last.id)) {
    return '';
  }
  const [after] =
    /^(?:[.:)]\s|\s+[-\u2013\u2014|]\s|\s)/u.exec(last.title.slice(last.id.length)) ?? [];
  return after === undefined
    ? ''
    : takeFreeId(new Set(stories.map(({ id }) => id)), last.id) + after;
}
