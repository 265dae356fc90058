import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import { newIssue, nextIssueId } from '../edit/beadsAddition.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import { requireSameGroup } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { beadsReadiness, blockerIn, hasBlockers, hasOddDependencies } from './beadsReady.ts';
import { findChoiceProblems } from './callChoice.ts';
import { isNameOfNeeds, namesIds, namesIn, statusFields } from './fieldNames.ts';
import { findInexactIds } from './inexactId.ts';
import { findInnerStories } from './innerStories.ts';
import { appendLine, type JsonLine, lineSpans, readJsonLines } from './jsonLines.ts';
import { membersOf } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys } from './jsonText.ts';
import { plainText } from './plainText.ts';
import { type Entry, firstText, ownId, readStory } from './prdEntry.ts';
import { isDoneWord } from './prdKeys.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import type { TextLines } from './textLines.ts';

/** The JSON Lines files in which the issue tracker Beads keeps its issues in git. */
export const beads: StoryFormat = { name: 'beads', read };

/** The type of a note for agents, which an export may contain: `bd remember`. */
export const MEMORY = 'memory';
/** What `bd` writes about the relations of an issue. */
const OWN_NEEDS = 'dependencies';
/** The status of an issue that is not done. */
const OPEN = 'open';

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const issues = readJsonLines(
    text,
    lines,
    say('This line has another value: put an issue there, or remove the line.'),
  );
  if (!Array.isArray(issues)) {
    return issues;
  }
  if (!issues.some(({ entry }) => ownId(entry) !== undefined && 'title' in entry)) {
    const message =
      issues.length === 0
        ? say('The file has no issues yet: add one with "bd create".')
        : say('The lines of this file are not Beads issues: each needs an id and a title.');
    return { code: 'noStories', message, line: 1, column: 1 };
  }
  const stories = readIssues(issues, lines);
  const startOf = ({ position }: Pick<Story, 'position'>) => issues[position]?.start ?? 0;
  const placeOf = (story: Pick<Story, 'position'>, wanted: string) => {
    const members = membersOf(text, startOf(story));
    const member = members.find(({ key }) => key === wanted);
    return lines.at(member?.name.start ?? startOf(story));
  };
  const keyPlace = (position: number, key: string) => placeOf({ position }, key);
  const entries = issues.map(({ entry }) => entry);
  const words = { open: OPEN, done: 'closed' };
  const problems = findStoryProblems(stories, placeOf, [
    ...findChoiceProblems(entries, keyPlace),
    ...findInexactIds(entries, keyPlace),
    ...findUnreadNeeds(entries, keyPlace),
    ...findInnerStories(text, lines, stories, position => issues[position]),
    ...findRepeatedKeys(text, issues, lines),
    ...findStatusProblems(entries.map(statusFields), keyPlace, words),
  ]);
  return {
    heading: { project: '', branchName: '', description: '' },
    stories,
    problems,
    // Nothing else: a date written by us could not be removed with the tick, and `bd` is responsible for it.
    edits: (story, done) =>
      setMembers(text, startOf(story), new Map([['status', done ? 'closed' : OPEN]])),
    nextId: story => nextIssueId(entries, story),
    add: story => [appendLine(text, JSON.stringify(newIssue(story, entries)))],
    parts: jsonParts(text, position => issues[position]?.start, {
      keys: [OWN_NEEDS],
      idKey: 'depends_on_id',
      read: (value, position) => blockerIn(value, issues[position]?.entry),
      openWord: OPEN,
      hasFixedIds: true,
    }),
    spanOf: position => issues[position] ?? { start: 0, end: 0 },
    move: (...move) => {
      requireSameGroup(move[0], move[1]);
      return moveEntry({ text, stories, spansOf: lineSpans, hasClasses: true }, move);
    },
  };
}

/** Issues that say what they wait for in another form than `bd`, or under another key. */
function findUnreadNeeds(
  entries: readonly Entry[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  const names = once(() => namesIn(entries));
  return entries.flatMap((entry, position) => {
    const keys = isDoneWord(entry.status) || hasBlockers(entry) ? [] : Object.keys(entry);
    const other = keys.find(
      key => key !== OWN_NEEDS && isNameOfNeeds(key) && namesIds(entry[key], names()),
    );
    const key = hasOddDependencies(entry) ? OWN_NEEDS : other;
    return key === undefined
      ? []
      : [
          {
            code: 'misspelledDependency' as const,
            message: say(
              'A dependency of {0} is not read, so it does not wait for it. Let bd write it: bd dep add {0} ID',
              plainText(ownId(entry) ?? ''),
            ),
            ...placeOf(position, key),
          },
        ];
  });
}

function readIssues(issues: readonly JsonLine[], lines: TextLines): Story[] {
  const entries = issues.map(({ entry }) => entry);
  const titles = new Map<string, string>();
  for (const entry of entries) {
    const id = ownId(entry);
    if (id !== undefined) {
      titles.set(id, typeof entry['title'] === 'string' ? entry['title'] : id);
    }
  }
  const readiness = beadsReadiness(entries, Date.now());
  return issues.flatMap(({ entry, start }, position) => {
    if (entry['_type'] === MEMORY) {
      return [];
    }
    const { parent, parked = false, waitsFor = [] } = readiness[position] ?? {};
    const { epic: _, ...story } = readStory(entry, position, lines.at(start).line);
    const read: Story = {
      ...story,
      description: descriptionOf(story, entry),
      notes: firstText(entry, ['notes']),
      done: isDoneWord(entry.status),
      dependsOn: waitsFor,
      epic: parent === undefined ? undefined : (titles.get(parent) ?? parent),
      parked: parked || story.parked,
    };
    return [read];
  });
}

/** What is to be done, and how. */
function descriptionOf({ description }: Story, entry: Entry): string {
  const design = firstText(entry, ['design']);
  return [description, ...(design === undefined ? [] : [`Design:\n${design}`])]
    .filter(text => text.trim() !== '')
    .join('\n\n');
}
