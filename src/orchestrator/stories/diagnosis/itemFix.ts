import { applyEdits } from 'jsonc-parser';
import { isNumberId } from '../../../base/numberId.ts';
import type { Story, StoryList } from '../story.ts';
import { parseStoryFile } from '../storyFile.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/** An item of a plan that is almost a checkbox: its bullet if it has one, and its mark. */
const ALMOST =
  /^(?:[\t ]*>)*[\t ]*(?:([-*+]|\d+[.)])|#+)[\t ]*\[[\t ]*(?:([^\s\]])[\t ]*)?\](\*?)[\t ]*/;

/**
 * The fix that makes a line a checkbox. It was tried: with it, the list has one more item, and no other one is changed.
 * @param offset where the text of the line begins
 */
export function itemFix(list: StoryList, text: string, offset: number): StoryFix[] {
  const [old, bullet = '-', mark = '', star = ''] = ALMOST.exec(text.slice(offset)) ?? [];
  if (old === undefined) {
    return [];
  }
  const content = `${bullet} [${mark || ' '}]${star} `;
  const edits = [{ offset, length: old.length, content }];
  const after = parseStoryFile(list.path, applyEdits(text, edits));
  return after.kind === 'stories' && isOneMore(list.stories, after.stories)
    ? [{ kind: 'makeItem', values: [`${content.trim()} …`], edits, isClear: false }]
    : [];
}

function isOneMore(before: readonly Story[], after: readonly Story[]): boolean {
  const [old, now] = [before.map(factsOf), after.map(factsOf)];
  const added = now.findIndex((facts, index) => facts !== old[index]);
  return (
    now.length === old.length + 1 && now.toSpliced(added, 1).every((facts, i) => facts === old[i])
  );
}

/** What an item below or above it does not change. A number counts the items. */
function factsOf({ done, epic, id, status, title }: Story): string {
  return JSON.stringify([isNumberId(id) ? '' : id, title, done, status, epic]);
}
