import { CONFIGS, folderParts } from '../formats/folderText.ts';
import { isEntry, isVoid } from '../formats/prdEntry.ts';
import { dataIn } from './sourceEntry.ts';

/** A file with settings, and what is in it. */
interface Settings {
  readonly name: string;
  readonly own: string;
}

/**
 * What a folder of Backlog.md has next to its tasks, and no other format: tasks that were put away as completed, and
 * settings that are no heading.
 * @param text of a story source; one that is no folder has none
 */
export function otherFiles(text: string): string[] {
  const completed = folderParts(text).filter(
    ({ end, kind, start }) => kind === 'names' && text.slice(start, end).trim() !== '',
  );
  const settings = folderSettings(text).filter(hasOther);
  return [...completed, ...settings].map(({ name }) => name);
}

export function folderSettings(text: string): Settings[] {
  return folderParts(text).flatMap(({ end, kind, name, start }) =>
    kind === 'file' && CONFIGS.some(config => config === name)
      ? [{ name, own: text.slice(start, end) }]
      : [],
  );
}

/** Also if it cannot be read as a whole, such as `owner: @anna`: tools read the lines that they know. */
function hasOther({ own }: Settings): boolean {
  const settings = dataIn(own);
  return isEntry(settings)
    ? Object.keys(settings).some(key => key !== 'project_name' && !isVoid(settings[key]))
    : settings === undefined && own.trim() !== '';
}
