import { type Document, isMap, isSeq, type YAMLMap } from 'yaml';
import { once } from '../../../base/once.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import { otherListMessage } from '../storyProblems.ts';
import { isListOfWork, isNameOfWork, namesIn, wordsOfKey } from './fieldNames.ts';
import type { Phase, PhaseNode } from './orchestrationPhases.ts';
import { type Entry, isDone, isEntry, ownId, titleOf } from './prdEntry.ts';
import { CHILD_KEYS } from './prdEpics.ts';
import { normaliseWord } from './prdKeys.ts';
import { isKnownIn, looksLikeOpenStory, looksLikeStoryUnder } from './storyParts.ts';
import { memberOf, startOf } from './yamlDocument.ts';

/** A list with tasks that is not read. */
interface Strays {
  /** The keys that lead to it. */
  readonly path: readonly string[];
  readonly items: readonly unknown[];
}

/** Keys of lists whose entries have ids and states, and are no tasks. */
const OTHER_LISTS = new Set([
  ...['agent', 'agents', 'worker', 'workers', 'environment', 'environments', 'service', 'services'],
  ...['check', 'checks', 'checkpoint', 'checkpoints', 'gate', 'gates', 'test', 'tests', 'metrics'],
  ...['criteria', 'criterion', 'validation', 'validations', 'verification', 'verifications'],
  ...['risk', 'risks', 'decision', 'decisions', 'question', 'questions', 'dependencies', 'rules'],
  ...['milestone', 'milestones', 'stage', 'stages', 'wave', 'waves', 'group', 'groups', 'epics'],
  ...['deliverable', 'deliverables', 'artifact', 'artifacts', 'output', 'outputs', 'goals'],
  ...['requirement', 'requirements', 'objectives', 'approvals', 'reviews', 'sessions', 'runs'],
  ...['log', 'logs', 'history', 'notes', 'tools', 'hooks', 'sprints'],
]);

/** Words that are said of work, and rarely of anything else. */
const OPEN_WORDS = new Set(['pending', 'todo', 'to do', 'not started', 'in progress', 'planned']);

/** Whether the file has tasks in other lists than the one that is read. */
export function hasStrays(root: Entry): boolean {
  return straysIn(root).length > 0;
}

/** The same for a phase. */
export function hasStraysInPhase(phase: Entry): boolean {
  return keysOfPhase(phase).length > 0;
}

/** The tasks of a file that are in other lists. */
export function straysOfRoot(document: Document, root: unknown, phases: readonly Phase[]) {
  const map = document.contents;
  if (!isEntry(root) || !isMap(map)) {
    return [];
  }
  const known = new Set(
    phases.flatMap(({ tasks }) =>
      tasks.flatMap(({ entry }) => [ownId(entry) ?? [], titleOf(entry) ?? []].flat()),
    ),
  );
  return straysIn(root).flatMap(({ items, path }) => {
    const unread = items.flatMap((item, index) => (isUnread(item, known) ? [index] : []));
    const [first] = unread;
    return first === undefined
      ? []
      : [
          {
            message: otherListMessage(path.join('.'), unread.length, usedKey(root)),
            offset: offsetOf(document, map, path, first),
          },
        ];
  });
}

/** Whether an entry of another list is not one of the tasks that are read, or a group of some. */
function isUnread(item: unknown, known: ReadonlySet<string>): boolean {
  if (!isEntry(item)) {
    return typeof item === 'string' && !known.has(item);
  }
  const inside = openTasks(item);
  return inside.length > 0 ? inside.some(task => !isKnownIn(known, task)) : !isKnownIn(known, item);
}

/** The open tasks of a phase that are next to its list. */
export function straysOfPhase({ entry, node }: PhaseNode) {
  return isMap(node) && isEntry(entry)
    ? keysOfPhase(entry).map(key => ({
        message: otherListMessage(
          key,
          itemsOf(entry[key]).filter(item => isOpenUnder(key, item)).length,
          'tasks',
        ),
        offset: startOf(pairOf(node, key)?.key ?? node),
      }))
    : [];
}

/** The key of the list that is read. */
function usedKey(root: Entry): 'phases' | 'tasks' {
  return Array.isArray(root['phases']) ? 'phases' : 'tasks';
}

function straysIn(root: Entry): readonly Strays[] {
  const used = usedKey(root);
  return Object.keys(root).flatMap((key): Strays[] => {
    const value = root[key];
    if (key === used) {
      return [];
    }
    const items = itemsOf(value);
    if (key === 'tasks' ? items.length > 0 : hasWork(key, value)) {
      return [{ path: [key], items }];
    }
    return isEntry(value)
      ? ['phases', 'tasks']
          .filter(inner => Array.isArray(value[inner]) && hasWork(inner, value[inner]))
          .map(inner => ({ path: [key, inner], items: itemsOf(value[inner]) }))
      : [];
  });
}

function keysOfPhase(phase: Entry): readonly string[] {
  const tasks = listOf(phase['tasks']).filter(isEntry);
  const known = once(() => namesIn(tasks));
  return Array.isArray(phase['tasks'])
    ? Object.keys(phase).filter(
        key =>
          key !== 'tasks' &&
          hasWork(key, phase[key]) &&
          itemsOf(phase[key]).some(item => isUnread(item, known())),
      )
    : [];
}

/**
 * Whether a value has open tasks: a list or map whose key is one of work, a list of phases under any key, or another list
 * with entries that are nothing else, or one such entry. Lists of agents, checks or risks have names and states, too.
 */
function hasWork(key: string, value: unknown): boolean {
  const items = itemsOf(value);
  if (items.some(isOpen) && isListOfWork(key)) {
    return true;
  }
  return (
    (Array.isArray(value) || isSurelyTask(value)) &&
    (items.some(item => openTasks(item).length > 0) ||
      (items.some(item => isOpenUnder(key, item)) && isNameOfWork(key)) ||
      (items.some(isSurelyTask) && !wordsOfKey(key).some(word => OTHER_LISTS.has(word))))
  );
}

/** An open task, or a phase with one. */
function isOpen(item: unknown): boolean {
  return looksLikeOpenStory(item) || openTasks(item).length > 0;
}

function isOpenUnder(key: string, item: unknown): boolean {
  return isOpen(item) || (looksLikeStoryUnder(key, item) && !isDone(item));
}

/** Those of a phase. */
function openTasks(item: unknown): readonly Entry[] {
  return isEntry(item) ? listOf(item['tasks']).filter(looksLikeOpenStory) : [];
}

function isSurelyTask(item: unknown): boolean {
  return (
    looksLikeOpenStory(item) &&
    ownId(item) !== undefined &&
    titleOf(item) !== undefined &&
    (item['passes'] === false || OPEN_WORDS.has(normaliseWord(String(item.status)))) &&
    !CHILD_KEYS.some(key => Array.isArray(item[key]))
  );
}

/** Where an entry of a list begins, or else the list. */
function offsetOf(
  document: Document,
  map: YAMLMap,
  path: readonly string[],
  first: number,
): number {
  let found: unknown = map;
  for (const key of path) {
    found = isMap(found) ? memberOf(document, found, key) : undefined;
  }
  return startOf(isSeq(found) ? found.items[first] : found);
}

/** The values of a list, or of a map that is in the place of one; a map that is a task itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (isSurelyTask(value)) {
    return [value];
  }
  return isEntry(value) ? Object.values(value) : listOf(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
