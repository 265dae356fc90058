import { linkIn } from '../formats/beadsReady.ts';
import { dependencyId, type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import { DEPENDENCY_KEYS } from '../formats/prdKeys.ts';
import { unreadNeeds } from '../formats/unreadNeeds.ts';
import type { Story } from '../story.ts';

/** Whether a key says what a story, a phase or an epic waits for. */
export function isNeedKey(key: string): boolean {
  return DEPENDENCY_KEYS.some(one => one === key);
}

/**
 * What an entry says about what it waits for and the model has not: `dependencies.type` for a key of an object besides
 * the id, `dependencies` for something that is not read.
 */
export function otherNeedKeys(entry: Entry, key: string): string[] {
  if (unreadNeeds({ [key]: entry[key] }).length > 0) {
    return [key];
  }
  const lost = [entry[key]]
    .flat()
    .flatMap(need =>
      isEntry(need) && dependencyId(need) !== undefined
        ? Object.keys(need).filter(own => own !== 'id' && !isVoid(need[own]))
        : [],
    );
  return [...new Set(lost)].map(own => `${key}.${own}`);
}

/** The same for an issue of Beads, whose dependencies are relations of several types. */
export function otherRelationKeys(issue: Entry, { dependsOn }: Story): string[] {
  let hasParent = false;
  const lost = [issue['dependencies']].flat().flatMap((relation): string[] => {
    const link = linkIn(relation, issue);
    if (link === undefined || !isEntry(relation)) {
      return isVoid(relation) ? [] : [''];
    }
    const { to, type } = link;
    const isParent = type === 'parent-child' && !hasParent;
    hasParent ||= isParent;
    // Parts of another issue are waited for by their own ids.
    if (!isParent && type !== 'waits-for' && !dependsOn.includes(to)) {
      return [''];
    }
    return Object.keys(relation).flatMap(own => {
      const isSaid =
        own === 'type'
          ? isParent || type === 'blocks'
          : ['issue_id', 'depends_on_id'].includes(own) || isNothing(relation[own]);
      return isSaid ? [] : [`.${own}`];
    });
  });
  return [...new Set(lost)].map(own => `dependencies${own}`);
}

/** `bd` also writes an empty object as its text. */
function isNothing(value: unknown): boolean {
  return isVoid(value) || value === '{}';
}
