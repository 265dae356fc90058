import { readOrchestration } from '../formats/orchestrationPhases.ts';
import { type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import { findStoryArray } from '../formats/prdRoot.ts';
import { readTags } from '../formats/taskMasterTasks.ts';
import type { ConversionSource } from './conversionSource.ts';
import { otherEpicKeys } from './otherEpics.ts';
import { otherGraphKeys } from './otherGraphKeys.ts';
import { otherHeadingKeys } from './otherHeading.ts';
import type { KnownStories } from './otherNeeds.ts';
import { otherPhaseKeys } from './otherPhases.ts';
import { otherSprintKeys } from './otherSprintKeys.ts';
import { rootOf } from './sourceEntry.ts';

/** The keys of the file, of its tags and of its phases that belong to no story. */
export function otherFileKeys(parsed: ConversionSource, known: KnownStories): string[] {
  const { file, text } = parsed;
  switch (file.format) {
    case 'orchestration': {
      const read = readOrchestration(text);
      if (!('phases' in read)) {
        return [];
      }
      const { phases = [], root } = read;
      const list = isEntry(root) && Array.isArray(root['phases']) ? 'phases' : 'tasks';
      return [
        ...otherHeadingKeys(root, file, list),
        ...otherPhaseKeys(phases, file.stories, known),
      ];
    }
    case 'bmad':
      return otherSprintKeys(rootOf(parsed), file);
    case 'tasks':
      return otherGraphKeys(text, file);
    case 'taskMaster':
      return otherTagKeys(parsed);
    case 'prd': {
      const root = rootOf(parsed);
      return otherHeadingKeys(root, file, findStoryArray(root)?.key).flatMap(key =>
        key === 'epics' ? otherEpicKeys(root, file.stories) : [key],
      );
    }
    default:
      return [];
  }
}

function otherTagKeys(parsed: ConversionSource): string[] {
  const { file, text } = parsed;
  const root = rootOf(parsed);
  const isTagged = readTags(text, root).tags.some(({ name }) => name !== undefined);
  return isTagged && isEntry(root)
    ? Object.entries(root).flatMap(([key, value]) =>
        isEntry(value) && Array.isArray(value['tasks'])
          ? keysOfTag(key, value)
          : otherHeadingKeys({ [key]: value }, file),
      )
    : otherHeadingKeys(root, file, 'tasks');
}

/** `shop.metadata` of the tag `shop`. */
function keysOfTag(tag: string, entry: Entry): string[] {
  return Object.keys(entry)
    .filter(key => key !== 'tasks' && !isVoid(entry[key]))
    .map(key => `${tag}.${key}`);
}
