import { say } from '../../../base/say.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { findChoiceProblems } from './callChoice.ts';
import { findMisnamedKeys, statusFields } from './fieldNames.ts';
import { findInexactIds } from './inexactId.ts';
import { findInnerStories } from './innerStories.ts';
import { type JsonLine, lineSpans, readJsonLines } from './jsonLines.ts';
import { membersOf } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys } from './jsonText.ts';
import { ownId, readStory, withStatusAlone } from './prdEntry.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import type { TextLines } from './textLines.ts';
import { findUnreadNeeds } from './unreadNeeds.ts';
import { findUnreadPriorities } from './unreadPriority.ts';

/** `.ralph/agent/tasks.jsonl`, in which the loop ralph-orchestrator keeps its tasks: one on each line. */
export const ralphOrchestrator: StoryFormat = { name: 'ralphOrchestrator', read };

/** Its own word for a task that it has given up: it is over, but does not free what waits for it. */
const GIVEN_UP = 'failed';
/** The status of a task that is not done. */
const OPEN = 'open';

/** Whether JSON lines are its tasks: their ids are made of the time. */
export function isRalphOrchestratorText(text: string): boolean {
  return /^\s*\{\s*"id"\s*:\s*"task-\d{9,11}-[0-9a-f]{4}"/.test(text);
}

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const tasks = readJsonLines(
    text,
    lines,
    say('This line has another value: remove it, or add the task with "ralph tools task add".'),
  );
  if (!Array.isArray(tasks)) {
    return tasks;
  }
  if (!tasks.some(({ entry }) => ownId(entry) !== undefined && 'title' in entry)) {
    const message =
      tasks.length === 0
        ? say('The file has no tasks yet: add one with "ralph tools task add".')
        : say(
            'The lines of this file are not tasks of ralph-orchestrator: each needs an id and a title.',
          );
    return { code: 'noStories', message, line: 1, column: 1 };
  }
  const stories = tasks.map((task, position) => storyOf(task, position, lines));
  const startOf = ({ position }: Pick<Story, 'position'>) => tasks[position]?.start ?? 0;
  const placeOf = (story: Pick<Story, 'position'>, wanted: string) => {
    const member = membersOf(text, startOf(story)).find(({ key }) => key === wanted);
    return lines.at(member?.name.start ?? startOf(story));
  };
  const entries = tasks.map(({ entry }) => withStatusAlone(entry));
  const keyPlace = (position: number, key: string) => placeOf({ position }, key);
  return {
    heading: { project: '', branchName: '', description: '' },
    stories,
    problems: findStoryProblems(
      stories,
      (story, fact) => placeOf(story, fact === 'id' ? 'id' : 'blocked_by'),
      [
        ...findInnerStories(text, lines, stories, position => tasks[position]),
        ...findRepeatedKeys(text, tasks, lines),
        ...findMisnamedKeys(entries, keyPlace, 'blocked_by'),
        ...[findChoiceProblems, findInexactIds, findUnreadNeeds].flatMap(find =>
          find(entries, keyPlace),
        ),
        // What it has given up is nobody's next.
        ...findUnreadPriorities(
          entries.map((entry, position) => (stories[position]?.parked ? undefined : entry)),
          keyPlace,
        ),
        ...findStatusProblems(entries.map(statusFields), keyPlace, { open: OPEN, done: 'closed' }),
      ],
    ),
    // Nothing else: a time written by us could not be removed with the tick.
    edits: (story, done) =>
      setMembers(text, startOf(story), new Map([['status', done ? 'closed' : OPEN]])),
    parts: jsonParts(text, position => tasks[position]?.start, { openWord: OPEN }),
    spanOf: position => tasks[position] ?? { start: 0, end: 0 },
    move: (...move) => moveEntry({ text, stories, spansOf: lineSpans, hasClasses: true }, move),
  };
}

function storyOf({ entry, start }: JsonLine, position: number, lines: TextLines): Story {
  const story = readStory(withStatusAlone(entry), position, lines.at(start).line);
  return { ...story, parked: story.status === GIVEN_UP || story.parked };
}
