import { HumanError } from '../../../base/humanError.ts';
import { once } from '../../../base/once.ts';
import { type Message, say } from '../../../base/say.ts';
import { doneChanges } from '../edit/doneChanges.ts';
import { appendEntry, listStart } from '../edit/entryAddition.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import { newTask, nextTaskNumber } from '../edit/taskMasterAddition.ts';
import type { Side } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems, otherListMessage } from '../storyProblems.ts';
import { findEntryProblems } from './entryProblems.ts';
import { findMisnamedKeys, namesIn } from './fieldNames.ts';
import { elementsOf, memberOf, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { JsonPlaces } from './jsonPlaces.ts';
import { findRepeatedKeys, readJson } from './jsonText.ts';
import { isNameOfPast } from './listNames.ts';
import { plainText } from './plainText.ts';
import { dependencyId, type Entry, isEntry } from './prdEntry.ts';
import { DEPENDENCY_KEYS } from './prdKeys.ts';
import { readHeading } from './prdRoot.ts';
import type { StoryFormat, StoryParts, StoryText } from './storyFormat.ts';
import { TaskMasterNeeds } from './taskMasterNeeds.ts';
import { idOf, readStories, type Tags } from './taskMasterStories.ts';
import {
  findStrays,
  namesOf,
  nestedSubtasks,
  oddSubtasks,
  readTags,
  readTasks,
  type Tag,
  type Task,
  type TaskList,
} from './taskMasterTasks.ts';
import type { TextLines } from './textLines.ts';
import { unreadPriorityWord } from './unreadPriority.ts';

/** `tasks.json` of Task Master: tasks with subtasks, in one list or in a list for each tag. */
export const taskMaster: StoryFormat = { name: 'taskMaster', read };

/** The tag that Task Master uses until somebody chooses another one. */
const MAIN_TAG = 'master';

/**
 * Whether a text, in a file that is called `tasks.json`, is one of Task Master: it writes these keys in each task. If
 * the text ends before the first task does, its beginning tells.
 */
export function isTaskMasterText(text: string): boolean {
  return (
    /"(?:subtasks|testStrategy)"\s*:/.test(text) ||
    /^\s*\{\s*(?:"[^"]*"\s*:\s*\{\s*)?"tasks"\s*:\s*\[\s*(?:\{\s*(?:"id"\s*:[^}]*)?)?$/.test(text)
  );
}

/** Whether a text of Task Master that is no JSON has a list of tasks. */
export function hasTaskList(text: string): boolean {
  return /"tasks"\s*:\s*\[/.test(text);
}

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  if (text.trim() === '') {
    return { code: 'noStories', message: noTasks(), line: 1, column: 1 };
  }
  const parsed = readJson(text, lines);
  if ('code' in parsed) {
    return parsed;
  }
  const { tags, unread } = readTags(text, parsed.root);
  if (tags.length === 0) {
    const [stray] = strayProblems(text, parsed.root, [], lines);
    return stray === undefined
      ? { code: 'noStories', message: noTasks(), ...lines.at(skipSpace(text, 0)) }
      : { ...stray, code: 'noStories', isPlaced: true };
  }
  // Its ids are those of Task Master, and stay so whatever is done.
  const main =
    tags.find(({ name, items }) => name === MAIN_TAG && items.length > 0) ??
    tags.find(({ items }) => items.length > 0);
  const tasks = tags.flatMap(tag => readTasks(text, tag));
  const needs = new TaskMasterNeeds(tasks, task => idOf(task, main));
  const { current, lists, stories } = readStories(tasks, { main, tags, needs }, lines);
  const placeOf = ({ position }: Pick<Story, 'position'>, keys: readonly string[]) => {
    const task = tasks[position];
    const member = membersOf(text, task?.span.start ?? 0).find(({ key }) => keys.includes(key));
    return lines.at((member?.name ?? task?.span)?.start ?? 0);
  };
  const names = once(() => namesOf(tags.flatMap(({ items }) => items)));
  const problems = findStoryProblems(
    stories,
    (story, fact) => placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS),
    [
      ...strayProblems(text, parsed.root, tags, lines),
      ...notTasks(
        [...tags, ...unread.filter(isLeft), ...tasks.flatMap(({ subtasks }) => subtasks ?? [])],
        lines,
      ),
      ...tasks.flatMap(task =>
        nestedSubtasks(text, task).map(({ start }) => ({
          code: 'notAStory' as const,
          message: say(
            'This is a subtask of the subtask {0}, so it is not read: Task Master has one level of subtasks. Move it up one level, and give it an id of its own there.',
            plainText(task.name),
          ),
          ...lines.at(start),
        })),
      ),
      ...findRepeatedKeys(
        text,
        [
          ...holdersOf(text, parsed.root as Entry, tags),
          ...tasks.map(({ entry, span }) => ({ entry, start: span.start })),
        ],
        lines,
      ),
      ...tasks.flatMap((task, position) =>
        oddSubtasks(task, names()).map(({ count, key }) => ({
          code: 'notAStory' as const,
          message: say(
            'Entries in "{0}" of {1} that are not read: {2}. Task Master has its subtasks in the list "subtasks": add them with "task-master add-subtask".',
            plainText(key),
            plainText(task.name),
            count,
          ),
          ...placeOf({ position }, [key]),
        })),
      ),
      ...findMisnamedKeys(
        tasks.map(({ entry }) => entry),
        (position, key) => placeOf({ position }, [key]),
        'dependencies',
        () =>
          new Set([
            ...namesIn(tasks.map(({ entry }) => entry)),
            // Of a subtask, with the id of its task.
            ...tasks.map(({ name }) => name),
          ]),
      ),
      ...findEntryProblems(
        tasks.map(({ entry }) => entry),
        (position, key) => placeOf({ position }, [key]),
        undefined,
        unreadPriorityWord,
      ),
    ],
  );
  return {
    heading: {
      ...readHeading(tags[0]?.name === undefined ? parsed.root : undefined),
      branchName: '',
    },
    stories,
    problems,
    lists,
    edits: ({ position }, done) => {
      const task = tasks[position];
      return task === undefined
        ? []
        : setMembers(text, task.span.start, changesOf(task, tasks, done));
    },
    parts: partsOf(text, tasks, needs),
    spanOf: position => spanOf(text, tasks[position]),
    ...additions(text, tags, { current, main, tasks, needs }),
    move: (...move) => moveTask(text, tasks, stories, move),
  };
}

/** @param tags those that are read */
function strayProblems(
  text: string,
  root: unknown,
  tags: readonly Tag[],
  lines: TextLines,
): StoryProblem[] {
  const places = new JsonPlaces(text);
  const isUntagged = tags.some(({ name }) => name === undefined);
  return findStrays(root, tags).map(({ count, name, path }) => ({
    code: 'notAStory',
    message: isUntagged
      ? otherListMessage(name, count, 'tasks')
      : say(
          'Entries in "{0}" that are not read: {1}. Task Master has its tasks in the list "tasks" of a tag: add them with "task-master add-task", and remove them here.',
          plainText(name),
          count,
        ),
    ...lines.at(places.offsetOf(path)),
  }));
}

function isLeft({ name }: Tag): boolean {
  return name === undefined || !isNameOfPast(name);
}

/** The object of the file, and those of its tags. */
function holdersOf(text: string, root: Entry, tags: readonly Tag[]) {
  const holders = tags.flatMap(({ holder, name }) => {
    const entry = name === undefined ? undefined : root[name];
    return isEntry(entry) ? [{ entry, start: holder }] : [];
  });
  return [{ entry: root, start: skipSpace(text, 0) }, ...holders];
}

/** A task names others of its tag, and a subtask its siblings, by their own ids. */
function partsOf(text: string, tasks: readonly Task[], needs: TaskMasterNeeds): StoryParts {
  return jsonParts(text, position => tasks[position]?.span.start, {
    read: (value, position) => {
      const name = dependencyId(value);
      const task = tasks[position];
      return name === undefined || task === undefined ? undefined : needs.meantBy(name, task);
    },
    nameOf: (id, position) => {
      const { parent, tag } = tasks[position] ?? {};
      const name = id.startsWith(`${tag?.name}/`) ? id.slice(`${tag?.name}/`.length) : id;
      const siblings = `${parent?.name}.`;
      return name.startsWith(siblings) ? name.slice(siblings.length) : name;
    },
  });
}

/** A new task belongs to the tag that is worked on. */
function additions(
  text: string,
  tags: readonly Tag[],
  {
    current,
    main,
    needs,
    tasks,
  }: Omit<Tags, 'tags'> & { readonly current: Tag | undefined; readonly tasks: readonly Task[] },
): Pick<StoryText, 'add' | 'nextId'> {
  const tag = current ?? tags.find(({ name }) => name === MAIN_TAG) ?? tags[0];
  const entries = tag?.items.filter(isEntry) ?? [];
  const number = nextTaskNumber(
    entries,
    tasks.filter(task => task.tag === tag).flatMap(task => needs.namesOf(task)),
  );
  return tag === undefined || number === undefined
    ? {}
    : {
        nextId: () => idOf({ name: String(number), tag }, main ?? tag),
        add: story => [
          appendEntry(
            text,
            tag.spans,
            listStart(text, tag.holder, 'tasks'),
            newTask(story, number, entries),
          ),
        ],
      };
}

/** Of a task with subtasks, the part that has its status: ticks of subtasks are not changes of it. */
function spanOf(text: string, task: Task | undefined): Span {
  if (task === undefined) {
    return { start: 0, end: 0 };
  }
  const { span } = task;
  const members = membersOf(text, span.start);
  const subtasks = memberOf(members, 'subtasks')?.value;
  if (subtasks === undefined) {
    return span;
  }
  const status = memberOf(members, 'status')?.value;
  return status !== undefined && status.end <= subtasks.start
    ? { start: span.start, end: subtasks.start }
    : { start: subtasks.end, end: span.end };
}

function changesOf(task: Task, tasks: readonly Task[], done: boolean) {
  const others = tasks.filter(other => other !== task).map(({ entry }) => entry);
  return doneChanges(task.entry, others, done, { key: 'status', word: 'done' });
}

/** Items that look like tasks and are not read: a list must not become shorter without a word. */
function notTasks(lists: readonly TaskList[], lines: TextLines): StoryProblem[] {
  return lists.flatMap(({ items, spans }) =>
    items.flatMap((item, index) =>
      isEntry(item)
        ? []
        : [
            {
              code: 'notAStory' as const,
              message: say(
                'This entry is not a task, so it is not read: add it with "task-master add-task", and remove it here.',
              ),
              ...lines.at(spans[index]?.start ?? 0),
            },
          ],
    ),
  );
}

/** Within its list; a task takes its subtasks along. */
function moveTask(
  text: string,
  tasks: readonly Task[],
  stories: readonly Story[],
  [story, target, side]: readonly [story: Story, target: Story, side: Side],
): string {
  const list = tasks[story.position]?.list;
  if (list === undefined || tasks[target.position]?.list !== list) {
    throw new HumanError(
      say(
        '{0} and {1} are in different lists of Task Master: a subtask can only be moved within its task, and a task within its tag.',
        plainText(story.id),
        plainText(target.id),
      ),
    );
  }
  // With the priorities in the file, which a subtask may have from its task.
  const siblings = new Map(
    tasks.flatMap((task, position) => {
      const sibling = stories[position];
      return task.list === list && sibling !== undefined
        ? [[sibling, { ...sibling, position: task.index }] as const]
        : [];
    }),
  );
  const start = list.spans[0]?.start ?? 0;
  return moveEntry(
    {
      text,
      stories: [...siblings.values()],
      spansOf: changed => elementsOf(changed, openingBracket(text, start)),
      hasClasses: true,
    },
    [siblings.get(story) ?? story, siblings.get(target) ?? target, side],
  );
}

/** Where the list begins whose first element begins at an offset. */
function openingBracket(text: string, first: number): number {
  return text.lastIndexOf('[', first);
}

function noTasks(): Message {
  return say(
    'The file has no tasks of Task Master, in "tasks" or in a tag with "tasks". Let Task Master write them: "task-master parse-prd FILE".',
  );
}
