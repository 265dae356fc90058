import { CONFIGS, folderParts } from '../formats/folderText.ts';
import { readOrchestration } from '../formats/orchestrationPhases.ts';
import { type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import { findStoryArray } from '../formats/prdRoot.ts';
import { readTags } from '../formats/taskMasterTasks.ts';
import type { ConversionSource } from './conversionSource.ts';
import { otherEpicKeys } from './otherEpics.ts';
import { otherGraphKeys } from './otherGraphKeys.ts';
import { otherHeadingKeys } from './otherHeading.ts';
import { otherPhaseKeys } from './otherPhases.ts';
import { otherSprintKeys } from './otherSprintKeys.ts';
import { dataIn } from './sourceEntry.ts';

/** The keys of the file, of its tags and of its phases that belong to no story. */
export function otherFileKeys({ file, text }: ConversionSource): string[] {
  switch (file.format) {
    case 'orchestration': {
      const read = readOrchestration(text);
      if (!('phases' in read)) {
        return [];
      }
      const { phases = [], root } = read;
      const list = isEntry(root) && Array.isArray(root['phases']) ? 'phases' : 'tasks';
      return [...otherHeadingKeys(root, file, list), ...otherPhaseKeys(phases, file.stories)];
    }
    case 'bmad':
      return otherSprintKeys(dataIn(text), file);
    case 'backlog':
      return otherFolderNames(text);
    case 'tasks':
      return otherGraphKeys(text, file);
    case 'taskMaster':
      return otherTagKeys(text, file);
    case 'prd': {
      const root = dataIn(text);
      return otherHeadingKeys(root, file, findStoryArray(root)?.key).flatMap(key =>
        key === 'epics' ? otherEpicKeys(root, file.stories) : [key],
      );
    }
    default:
      return [];
  }
}

/** Of a folder of Backlog.md: tasks that were put away as completed, and settings that are no heading. */
function otherFolderNames(text: string): string[] {
  return folderParts(text).flatMap(({ end, kind, name, start }) => {
    const own = text.slice(start, end);
    const isLost =
      kind === 'names'
        ? own.trim() !== ''
        : kind === 'file' && CONFIGS.some(config => config === name) && hasOther(dataIn(own));
    return isLost ? [name] : [];
  });
}

function hasOther(settings: unknown): boolean {
  return (
    isEntry(settings) &&
    Object.keys(settings).some(key => key !== 'project_name' && !isVoid(settings[key]))
  );
}

function otherTagKeys(text: string, file: ConversionSource['file']): string[] {
  const root = dataIn(text);
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
