import { type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import { BRANCH_KEYS, HEADING_PART_KEYS, PROJECT_KEYS } from '../formats/prdRoot.ts';
import type { StoryFileHeading } from '../story.ts';

/**
 * The keys of a file that its heading does not say, and its list of stories neither: `title` next to `name`, a
 * `description` that is no text, `project.owner` for a key of an object with a part of the heading.
 * @param list the key of the stories
 */
export function otherHeadingKeys(
  root: unknown,
  heading: StoryFileHeading,
  list?: string,
): string[] {
  return isEntry(root)
    ? Object.keys(root).flatMap(key => {
        const part = root[key];
        return key === list
          ? []
          : HEADING_PART_KEYS.includes(key) && isEntry(part)
            ? unsaidKeys(part, heading).map(own => `${key}.${own}`)
            : isSaid(root, key, heading)
              ? []
              : [key];
      })
    : [];
}

function unsaidKeys(part: Entry, heading: StoryFileHeading): string[] {
  return Object.keys(part).filter(key => !isSaid(part, key, heading));
}

function isSaid(entry: Entry, key: string, heading: StoryFileHeading): boolean {
  const value = entry[key];
  if (isVoid(value)) {
    return true;
  }
  const said = PROJECT_KEYS.includes(key)
    ? heading.project
    : BRANCH_KEYS.includes(key)
      ? heading.branchName
      : key === 'description'
        ? heading.description
        : undefined;
  const isWord = typeof value === 'string' || typeof value === 'number';
  return isWord && String(value).trim() === said?.trim();
}
