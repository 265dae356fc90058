import { applyEdits, type Edit } from 'jsonc-parser';
import { numberId } from '../../../base/numberId.ts';
import { say } from '../../../base/say.ts';
import { editFile, HalfWritten } from '../../stories/edit/fileEdit.ts';
import { setMembers } from '../../stories/edit/jsonEdit.ts';
import {
  elementsOf,
  elementsOfMember,
  memberOf,
  membersOf,
  skipSpace,
} from '../../stories/formats/jsonOutline.ts';
import { findStoryArray } from '../../stories/formats/prdRoot.ts';
import { parseStoryText } from '../../stories/storyFile.ts';

const KEY = 'architectVerified';

/**
 * Writes the reviewer's decision into the story's own entry, as other Ralph loops do; every other byte of the file
 * is unchanged. Only JSON story files have such a field, and only a story with a unique id can be identified
 * reliably; a list or an object under that key is somebody's data.
 *
 * @returns whether the file was written: false if it already had this value, or cannot store it
 * @throws {HumanError} if there is no such file, it is invalid, it cannot be written, or it keeps changing
 */
export async function setArchitectVerified(
  path: string,
  storyId: string,
  value: boolean,
): Promise<boolean> {
  const { changed } = await editFile(path, before => {
    const { file, text, bom } = parseStoryText(path, before);
    if (file.format !== 'prd') {
      return before;
    }
    if (file.kind === 'invalid') {
      const [problem] = file.problems;
      throw new HalfWritten(
        say(
          '{0}, line {1}, column {2}: {3} Nothing was written.',
          path,
          problem.line,
          problem.column,
          problem.message,
        ),
      );
    }
    const [story, ...others] = file.stories.filter(({ id }) => id === storyId);
    // The position of a story without an id may belong to another story by now.
    if (story === undefined || others.length > 0 || story.id === numberId(story.position)) {
      return before;
    }
    const edits = editsOf(text, story.position, value);
    return edits.length === 0 ? before : Buffer.from(bom + applyEdits(text, edits));
  });
  return changed;
}

function editsOf(text: string, position: number, value: boolean): Edit[] {
  const start = skipSpace(text, 0);
  const key = findStoryArray(JSON.parse(text))?.key;
  const entries = key === undefined ? elementsOf(text, start) : elementsOfMember(text, start, key);
  const entry = entries[position];
  if (entry === undefined) {
    return [];
  }
  const old = memberOf(membersOf(text, entry.start), KEY);
  const isData = old !== undefined && '[{'.includes(text.charAt(old.value.start));
  return isData ? [] : setMembers(text, entry.start, new Map([[KEY, value]]));
}
