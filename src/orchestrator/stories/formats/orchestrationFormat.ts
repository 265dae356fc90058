import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import { COMMITS_KEY, listedCommits } from '../edit/yamlCommits.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { findEntryProblems } from './entryProblems.ts';
import { findMisnamedKeys, misnamedList, misnamedListMessage } from './fieldNames.ts';
import { orchestrationEdits, STATUS_WORDS } from './orchestrationEdits.ts';
import { type Phase, phaseGroups, readOrchestration, type Task } from './orchestrationPhases.ts';
import { earlierGroups, findGroupProblems } from './parallelGroups.ts';
import { type Entry, isDone, isEntry, readDependencies, readStory } from './prdEntry.ts';
import { DEPENDENCY_KEYS, STATUS_KEYS } from './prdKeys.ts';
import { readHeading } from './prdRoot.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { StoryNames } from './storyNames.ts';
import type { TextLines } from './textLines.ts';
import { startOf } from './yamlDocument.ts';
import { yamlParts } from './yamlParts.ts';

/** YAML with phases and their tasks, as written by orchestration commands for Claude Code. */
export const orchestration: StoryFormat = { name: 'orchestration', read };

const FIX = say(
  'Put the tasks into "phases:", each with "tasks:", a list with id, name and status.',
);

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parsed = readOrchestration(text);
  if ('message' in parsed) {
    return { code: 'invalidYaml', message: parsed.message, ...lines.at(parsed.offset) };
  }
  const { phases, root } = parsed;
  if (phases === undefined) {
    return { ...whyNoTasks(text, root, parsed.notStories(lines)), code: 'noStories' };
  }
  const tasks = phases.flatMap(phase => phase.tasks);
  const others = parsed.notStories(lines);
  const [first] = others;
  if (tasks.length === 0 && first !== undefined) {
    // Not an empty list, which would be complete.
    return { ...first, code: 'noStories' };
  }
  const hasPhases = isEntry(root) && Array.isArray(root['phases']);
  const stories = readTasks(phases, hasPhases, lines);
  const placeOf = ({ position }: Pick<Story, 'position'>, keys: readonly string[]) => {
    const map = tasks[position]?.map();
    const pair = keys.map(key => pairOf(map, key)).find(found => found !== undefined);
    return lines.at(startOf(pair?.key ?? map));
  };
  const keyPlace = (position: number, key: string) => placeOf({ position }, [key]);
  const entries = tasks.map(({ entry }) => entry);
  const problems = findStoryProblems(
    stories,
    (story, fact) => placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS),
    [
      ...others,
      ...findEntryProblems(entries, keyPlace, STATUS_WORDS),
      ...findMisnamedKeys(entries, keyPlace, 'depends_on'),
      ...findGroupProblems(entries, keyPlace),
      ...findCommitsProblems(entries, keyPlace),
    ],
  );
  return {
    heading: readHeading(root),
    stories,
    problems,
    hasPhases: hasPhases || undefined,
    ...orchestrationEdits(text, tasks, story => placeOf(story, STATUS_KEYS).line),
    parts: yamlParts(text, position => tasks[position]?.map()),
  };
}

/** What keeps the tasks from being found: a list under a misspelled key, or the first phase without tasks. */
function whyNoTasks(
  text: string,
  root: unknown,
  others: readonly StoryProblem[],
): Pick<StoryProblem, 'message' | 'line' | 'column' | 'isPlaced'> {
  const found = isEntry(root) ? misnamedList(root, ['phases', 'tasks'], isEntry) : undefined;
  const hasPhases = isEntry(root) && Array.isArray(root['phases']);
  const phase = others.find(({ code }) => hasPhases && code === 'notAStory');
  if (found === undefined && phase !== undefined) {
    return { ...phase, isPlaced: true };
  }
  if (found === undefined) {
    return { message: say('The file has no phases with tasks. {0}', FIX), line: 1, column: 1 };
  }
  const at = text.split('\n').findIndex(line => line.startsWith(found.key));
  const message = misnamedListMessage(found);
  return { message, line: Math.max(0, at) + 1, column: 1, isPlaced: true };
}

function readTasks(phases: readonly Phase[], hasPhases: boolean, lines: TextLines): Story[] {
  const tasks = phases.flatMap(phase => phase.tasks);
  const stories = tasks.map(({ entry, start }, position) =>
    readStory(entry, position, lines.at(start).line),
  );
  // Deferred stories do not block others.
  const parked = new Set(stories.filter(story => story.parked).map(({ id }) => id));
  const phaseOf = phases.flatMap(phase => phase.tasks.map(() => phase));
  // All tasks of a file without phases are no group that one of them could wait for by its number.
  const names = once(() => new StoryNames(stories, hasPhases ? phaseGroups(phases, stories) : []));
  const isWaitedFor = (id: string) => !parked.has(id);
  const needsOf = new Map(
    phases.map((phase, position) => {
      const needs = phase.dependsOn.flatMap(need => names().meantByGroup(need, position));
      return [phase, [...new Set(needs)].filter(isWaitedFor)];
    }),
  );
  const positionOf = new Map(phases.map((phase, position) => [phase, position]));
  const earlier = earlierGroups(tasks, stories);

  return stories.map((story, i) => {
    const { entry } = tasks[i] as Task;
    const phase = phaseOf[i] as Phase;
    const own = readDependencies(entry).flatMap(need =>
      names().meantBy(need, positionOf.get(phase)),
    );
    const needs = joined(
      [...new Set(own)].filter(isWaitedFor),
      joined(needsOf.get(phase) ?? [], earlier.get(entry) ?? []),
    );
    return { ...story, dependsOn: needs, epic: phase.name ?? phase.id };
  });
}

/** One of the lists itself if it has all: thousands of tasks may wait for the same thousands. No list has an id twice. */
function joined(ids: readonly string[], others: readonly string[]): readonly string[] {
  if (ids.length === 0 || others.length === 0) {
    return ids.length === 0 ? others : ids;
  }
  return [...new Set([...ids, ...others])];
}

/** Open tasks with a place for their commits in which nothing can be listed. */
function findCommitsProblems(
  entries: readonly Entry[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    isDone(entry) || listedCommits(entry[COMMITS_KEY]) !== undefined
      ? []
      : {
          code: 'notHashes' as const,
          message: say(
            '"{0}" is not a list of hashes, so the commits of this task cannot be listed there. Write "{0}: []", and what is there now under another key.',
            COMMITS_KEY,
          ),
          ...placeOf(position, COMMITS_KEY),
          subject: { position, ids: [COMMITS_KEY] },
        },
  );
}
