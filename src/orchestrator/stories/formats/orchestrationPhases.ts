import { type Document, isMap, isScalar, isSeq, type YAMLMap } from 'yaml';
import { numberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import type { Story, StoryProblem } from '../story.ts';
import { isNamedLike, isNameOfNeeds, misnamedKeyMessage, namesIds, namesIn } from './fieldNames.ts';
import { isListOfWork } from './listNames.ts';
import { findStrays, hasStrays } from './orchestrationStrays.ts';
import { plainText } from './plainText.ts';
import { readPlainYaml } from './plainYaml.ts';
import {
  dependencyId,
  type Entry,
  isEntry,
  isVoid,
  itemsOf,
  ownId,
  readDependencies,
  titleOf,
} from './prdEntry.ts';
import { DEPENDENCY_KEYS } from './prdKeys.ts';
import type { NamedGroup } from './storyNames.ts';
import { nameOf, partLists, partsMessage } from './storyParts.ts';
import type { TextLines } from './textLines.ts';
import { unreadNeeds, unreadNeedsMessage } from './unreadNeeds.ts';
import { itemOf, memberOf, parseYaml, resolve, startOf, type YamlText } from './yamlDocument.ts';
import type { Unreadable } from './yamlError.ts';

/** What an orchestration says. */
export interface Orchestration {
  readonly root: unknown;
  /** `undefined` if the file has none. */
  readonly phases?: readonly Phase[];
  /** Items that look like tasks or phases and are not read: a list must not become shorter without a word. */
  readonly notStories: (lines: TextLines) => StoryProblem[];
}

/** Tasks that belong together; a file without phases is one. */
export interface Phase {
  /** As in the parsed file; of a file without phases, its tasks alone. */
  readonly entry: Entry;
  /** Without the tasks that are not maps. */
  readonly tasks: readonly Task[];
  readonly id?: string;
  readonly name?: string;
  readonly dependsOn: readonly string[];
}

/** A task with its place in the text. */
export interface Task {
  readonly entry: Entry;
  /** All tasks of its phase, as in the parsed file. */
  readonly list: unknown[];
  readonly start: number;
  /** Its node, which knows where each of its values is. A plain text is parsed again for the first one. */
  readonly map: () => YAMLMap | undefined;
}

/** Reads the phases of a text: quickly if it is plain, and nothing must be said about its lists. */
export function readOrchestration(text: string): Orchestration | Unreadable {
  return readPlain(text) ?? readExactly(text);
}

/** The tasks of all phases, in their order. */
export function tasksOf(read: Orchestration | Unreadable): readonly Task[] {
  return ('phases' in read ? read.phases : undefined)?.flatMap(({ tasks }) => tasks) ?? [];
}

function readPlain(text: string): Orchestration | undefined {
  const plain = readPlainYaml(text);
  if (plain === undefined || !isEntry(plain.root)) {
    return undefined;
  }
  const { root, startOf: startOfMap } = plain;
  let exact: readonly Task[] | undefined;
  const exactTask = (position: number) => {
    exact ??= tasksOf(readExactly(text));
    return exact[position];
  };
  const named: readonly unknown[] = itemsOf(root['phases']);
  const isOdd = oddKeysOf(named);
  if (hasStrays(root) || named.some(phase => isEntry(phase) && hasUnreadNeeds(phase, isOdd))) {
    return undefined;
  }
  let position = 0;
  const lists = Array.isArray(root['phases']) ? root['phases'] : [{ tasks: root['tasks'] }];
  const phases: Phase[] = [];
  for (const phase of lists as readonly unknown[]) {
    const list: unknown = isEntry(phase) ? phase['tasks'] : undefined;
    if (!isEntry(phase) || !Array.isArray(list) || !list.every(isEntry)) {
      return undefined;
    }
    if (list.some(entry => partLists(entry).length > 0)) {
      return undefined;
    }
    const tasks = list.map((entry: Entry) => {
      const at = position++;
      return { entry, list, start: startOfMap(entry), map: () => exactTask(at)?.map() };
    });
    phases.push({ tasks, ...groupOf(phase) });
  }
  return phases.length === 0 ? undefined : { root, phases, notStories: () => [] };
}

function readExactly(text: string): Orchestration | Unreadable {
  const parsed = parseYaml(text);
  if ('message' in parsed) {
    return parsed;
  }
  const phases = exactPhases(parsed);
  return {
    root: parsed.root,
    phases,
    notStories: lines => notStories(parsed, phases ?? [], lines),
  };
}

interface ExactPhase extends Phase {
  /** Where the tasks begin that are not maps. */
  readonly others: readonly number[];
}

function exactPhases({ document, root }: YamlText): readonly ExactPhase[] | undefined {
  if (!isEntry(root) || !isMap(document.contents)) {
    return undefined;
  }
  const map = document.contents;
  const list = root['phases'];
  const phases = Array.isArray(list)
    ? list.map((phase, index) =>
        readPhase(document, itemOf(document, memberOf(document, map, 'phases'), index), phase),
      )
    : [readPhase(document, map, { tasks: root['tasks'] })];
  const found = phases.filter(phase => phase !== undefined);
  return found.length === 0 ? undefined : found;
}

function readPhase(document: Document, map: unknown, phase: unknown): ExactPhase | undefined {
  if (!isMap(map) || !isEntry(phase) || !Array.isArray(phase['tasks'])) {
    return undefined;
  }
  const list = memberOf(document, map, 'tasks');
  const entries: unknown[] = phase['tasks'];
  const others: number[] = [];
  const tasks = entries.flatMap((entry, index) => {
    const task = itemOf(document, list, index);
    if (isEntry(entry) && isMap(task)) {
      return [{ entry, list: entries, start: startOf(task), map: () => task }];
    }
    others.push(isSeq(list) ? startOf(list.items[index]) : startOf(list));
    return [];
  });
  return { tasks, others, ...groupOf(phase) };
}

/** Keys by which others name a phase; the first one with a value counts. */
export const PHASE_ID_KEYS = ['id', 'phase', 'number'];

/** What a phase says of all its tasks. */
function groupOf(phase: Entry): Omit<Phase, 'tasks'> {
  const { name } = phase as { readonly name?: unknown };
  const id = PHASE_ID_KEYS.map(key => phase[key]).find(value => (value ?? undefined) !== undefined);
  return {
    entry: phase,
    id: typeof id === 'string' ? id : undefined,
    name: typeof name === 'string' ? name.trim() : undefined,
    dependsOn: readDependencies(phase),
  };
}

/** The phases as those that wait for one may call it. @param stories of all phases, in their order */
export function phaseGroups(
  phases: readonly Phase[],
  stories: readonly Pick<Story, 'id'>[],
): readonly NamedGroup[] {
  let end = 0;
  return phases.map(({ id, name, tasks }) => {
    const start = end;
    end += tasks.length;
    return { id, name, stories: stories.slice(start, end).map(story => story.id) };
  });
}

function notStories(
  { document, root }: YamlText,
  phases: readonly ExactPhase[],
  lines: TextLines,
): StoryProblem[] {
  const tasks = phases.flatMap(({ others }) => others);
  const list = isMap(document.contents)
    ? memberOf(document, document.contents, 'phases')
    : undefined;
  const items = isSeq(list) ? list.items : [];
  const named = isEntry(root) ? itemsOf(root['phases']) : [];
  const isOdd = oddKeysOf(named);
  return [
    ...tasks.map(offset => ({
      message: say(
        'This task is a plain text without a place for its status, so it is not read. Write it as "- name: …" with "status: pending" on the next line.',
      ),
      offset,
    })),
    ...items
      .map(item => ({ item, phase: resolve(document, item) }))
      .filter(({ phase }) => !hasTasks(document, phase))
      .map(({ item, phase }) => whyNoTasks(document, phase) ?? emptyPhase(item)),
    ...items.flatMap((item, index) =>
      oddNeeds({ node: resolve(document, item), entry: named[index] }, isOdd),
    ),
    ...findStrays(document, root),
    ...insideTasks(document, phases),
  ].map(({ offset, ...problem }) => ({
    code: 'notAStory' as const,
    ...problem,
    ...lines.at(offset),
  }));
}

function emptyPhase(phase: unknown) {
  return {
    message: say(
      'This phase has no tasks, so it is not read. Write it as "- name: …" with "tasks:" below.',
    ),
    offset: startOf(phase),
  };
}

/** What a phase has in the place of a list `tasks`: one under another key, or tasks that are no list. */
function whyNoTasks(document: Document, phase: unknown) {
  const pairs = isMap(phase) ? phase.items : [];
  const [found] = pairs.flatMap(({ key, value: node }) => {
    const name = isScalar(key) ? String(key.value) : '';
    const value = resolve(document, node);
    return (isMap(value) || isSeq(value)) && (isListOfWork(name) || isNamedLike(name, 'steps'))
      ? { key, name: plainText(name), isList: isSeq(value) }
      : [];
  });
  return (
    found && {
      message: found.isList
        ? say(
            'This phase has no tasks, because the list "{0}" is not read: rename it to "tasks".',
            found.name,
          )
        : say(
            'This phase has no tasks, because what is below "{0}" is no list: write each task below "tasks:" as "- name: …".',
            found.name,
          ),
      offset: startOf(found.key),
    }
  );
}

/** The tasks of tasks. */
function insideTasks(document: Document, phases: readonly ExactPhase[]) {
  const tasks = phases.flatMap(phase => phase.tasks);
  const known = new Set(tasks.flatMap(({ entry }) => [nameOf(entry), titleOf(entry) ?? '']));
  return tasks.flatMap(({ entry, map }, position) =>
    partLists(entry, known).map(parts => {
      const node = map();
      const list = node && memberOf(document, node, parts.key);
      return {
        message: partsMessage(parts, ownId(entry) ?? numberId(position)),
        offset: startOf(firstPart(list, parts.first) ?? pairOf(node, parts.key)?.key ?? node),
        ...(parts.isCriteria && { severity: 'info' as const }),
      };
    }),
  );
}

/** The first of the parts of a task, or its key. */
function firstPart(holder: unknown, first: number | string | undefined): unknown {
  if (isSeq(holder) && typeof first === 'number') {
    return holder.items[first];
  }
  return isMap(holder) && typeof first === 'string' ? pairOf(holder, first)?.key : undefined;
}

/** Whether a phase says under another key, or in another form, what it waits for. */
function hasUnreadNeeds(phase: Entry, isOdd: IsOdd): boolean {
  return unreadNeeds(phase).length > 0 || hasMisnamedNeeds(phase, isOdd);
}

function hasMisnamedNeeds(phase: Entry, isOdd: IsOdd): boolean {
  return (
    readDependencies(phase).length === 0 && Object.keys(phase).some(key => isOdd(key, phase[key]))
  );
}

const NEEDS: ReadonlySet<string> = new Set(DEPENDENCY_KEYS);

/** Whether a phase probably says under a key that is not read what it waits for. */
type IsOdd = (key: string, value: unknown) => boolean;

function oddKeysOf(phases: readonly unknown[]): IsOdd {
  // Others write there what must be installed, or a sentence.
  const names = once(() => new Set(phases.flatMap(namesOfPhase)));
  return (key, value) =>
    !isVoid(value) && isNameOfNeeds(key) && !NEEDS.has(key) && namesIds(value, names());
}

/** What those that wait for a phase, or for a task of it, may call it. */
function namesOfPhase(phase: unknown, position: number): readonly string[] {
  if (!isEntry(phase)) {
    return [];
  }
  const own = [...PHASE_ID_KEYS, 'name'].flatMap(key => dependencyId(phase[key]) ?? []);
  const starts = own.map(name => /^phase [^\s:.]{1,9}/i.exec(name)?.[0] ?? name);
  return [
    String(position + 1),
    ...own,
    ...starts,
    ...namesIn(itemsOf(phase['tasks']).filter(isEntry)),
  ];
}

/** A phase in the text, and what it says. */
export interface PhaseNode {
  readonly node: unknown;
  readonly entry: unknown;
}

interface PhaseProblem extends Pick<StoryProblem, 'code' | 'message'> {
  readonly offset: number;
}

/** Keys of a phase that probably say what it waits for, and are not read as that. */
function oddNeeds({ entry, node }: PhaseNode, isOdd: IsOdd): PhaseProblem[] {
  if (!isMap(node) || !isEntry(entry)) {
    return [];
  }
  const isMisnamed = hasMisnamedNeeds(entry, isOdd);
  const unread = unreadNeeds(entry);
  return node.items.flatMap(({ key }) => {
    const name = isScalar(key) ? String(key.value) : '';
    const offset = startOf(key);
    if (unread.includes(name)) {
      return { code: 'unreadDependency', message: unreadNeedsMessage(name), offset };
    }
    return isMisnamed && isOdd(name, entry[name])
      ? { code: 'misspelledDependency', message: misnamedKeyMessage(name, 'depends_on'), offset }
      : [];
  });
}

function hasTasks(document: Document, item: unknown): boolean {
  return isMap(item) && isSeq(memberOf(document, item, 'tasks'));
}
