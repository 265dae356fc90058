import { linkIn } from '../formats/beadsReady.ts';
import { phaseGroups, readOrchestration } from '../formats/orchestrationPhases.ts';
import { dependencyId, type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import { DEPENDENCY_KEYS } from '../formats/prdKeys.ts';
import { StoryNames } from '../formats/storyNames.ts';
import { unreadNeeds } from '../formats/unreadNeeds.ts';
import type { Story, StoryList } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';

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

/** The stories of the file. */
export interface KnownStories {
  readonly ids: ReadonlySet<string>;
  readonly names: StoryNames;
  /** The position of the phase that a story is in. */
  readonly phaseOf: (story: Story) => number | undefined;
}

/** The stories of a file by all names that its stories and phases may use. */
export function knownStories(parsed: ParsedStoryFile & { readonly file: StoryList }): KnownStories {
  const { file, text } = parsed;
  const read = file.format === 'orchestration' ? readOrchestration(text) : undefined;
  // All tasks of a file without phases are no group.
  const phases = (file.hasPhases && read && 'phases' in read && read.phases) || [];
  const phaseOf = phases.flatMap(({ tasks }, index) => tasks.map(() => index));
  return {
    ids: new Set(file.stories.map(({ id }) => id)),
    names: new StoryNames(file.stories, phaseGroups(phases, file.stories)),
    phaseOf: ({ position }) => phaseOf[position],
  };
}

/**
 * Whether a story of the file is named that the reader leaves out, because it is put aside and nobody waits for it.
 * @param value of a key with what the story waits for
 */
export function leavesOut(
  value: unknown,
  story: Story,
  { ids, isTaskMaster, names, phaseOf }: KnownStories & { readonly isTaskMaster: boolean },
): boolean {
  const places = isTaskMaster ? placesOf(story.id) : [''];
  return isLeftOut(value, story, name =>
    places
      .map(place => names.meantBy(`${place}${name}`, phaseOf(story)))
      .map(meant => meant.filter(id => ids.has(id)))
      .find(meant => meant.length > 0),
  );
}

/** The same for what the phase of a story waits for. */
export function phaseLeavesOut(
  value: unknown,
  story: Story,
  { ids, names, phaseOf }: KnownStories,
): boolean {
  return isLeftOut(value, story, name =>
    names.meantByGroup(name, phaseOf(story)).filter(id => ids.has(id)),
  );
}

/** @param storiesOf the ids of the stories that a name means */
function isLeftOut(
  value: unknown,
  { dependsOn }: Story,
  storiesOf: (name: string) => readonly string[] | undefined,
): boolean {
  const kept = new Set(dependsOn);
  return [value].flat().some(need => {
    const name = dependencyId(need);
    return name !== undefined && storiesOf(name)?.some(id => !kept.has(id)) === true;
  });
}

/** What stands before the ids that a task of Task Master names: those of its siblings, if it is a subtask, and its tag. */
function placesOf(id: string): string[] {
  const tag = id.slice(0, id.lastIndexOf('/') + 1);
  const end = id.lastIndexOf('.');
  return end > tag.length ? [id.slice(0, end + 1), tag] : [tag];
}

/** The same for an issue of Beads: its relations have several types, of which few are dependencies. */
export function otherRelationKeys(issue: Entry, { dependsOn }: Story): string[] {
  const kept = new Set(dependsOn);
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
    if (!isParent && type !== 'waits-for' && !kept.has(to)) {
      return [''];
    }
    return Object.keys(relation).flatMap(own => {
      const isSaid =
        isNothing(relation[own]) ||
        (own === 'type'
          ? relation[own] === 'blocks' || isParent
          : ['issue_id', 'depends_on_id'].includes(own));
      return isSaid ? [] : [`.${own}`];
    });
  });
  return [...new Set(lost)].map(own => `dependencies${own}`);
}

/** `bd` also writes an empty object as its text. */
function isNothing(value: unknown): boolean {
  return isVoid(value) || value === '{}';
}
