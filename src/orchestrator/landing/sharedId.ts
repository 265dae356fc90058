import path from 'node:path';
import { isNumberId } from '../../base/numberId.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { titleNextTo } from '../../base/storyTitle.ts';
import { storyNotes } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { MAX_STORY_FILE_BYTES, parseStoryFile } from '../stories/storyFile.ts';

/**
 * Reports that an agent gave the id of its own story to another item as well, so that no item has it any more. The guard
 * has found the story removed, and put the file back: its tick is gone, too, and the next agent would do the same again.
 * @returns whether it did
 */
export async function isIdShared(run: Pick<Run, 'state'>, scope: Scope): Promise<boolean> {
  const { dir, iteration, place, story } = scope;
  const { guard } = storyNotes(run.state(), story?.id);
  const isRemoved =
    guard?.iteration === iteration &&
    guard.restored &&
    guard.changes.some(({ kind, storyId }) => kind === 'storyRemoved' && storyId === story?.id);
  if (story === undefined || place.storyFile === undefined || !isRemoved) {
    return false;
  }
  const bytes = await readPlainFile(path.join(dir, 'story-file-after'), MAX_STORY_FILE_BYTES);
  const left = bytes && parseStoryFile(place.storyFile, bytes);
  const sharing = (left?.kind === 'stories' ? left.stories : []).filter(
    ({ id, title }) => isNumberId(id) && titleNextTo(story.id, title) !== title,
  );
  if (sharing.length < 2) {
    return false;
  }
  const lines = sharing.map(({ line }) => line).join(', ');
  const words = say(
    'The agent gave the id {0} to {1} items (lines {2}), so that no story had it any more. The file was put back. Give a new item another id, or none.',
    ...[story.id, sharing.length, lines],
  );
  warn(scope, 'idShared', words);
  return true;
}
