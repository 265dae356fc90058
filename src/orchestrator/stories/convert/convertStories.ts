import { isDeepStrictEqual } from 'node:util';
import { assertNever } from '../../../base/assertNever.ts';
import { isNumberId } from '../../../base/numberId.ts';
import { inTurnOrder } from '../edit/workOrder.ts';
import { prdFileText } from '../formats/prdWriter.ts';
import { saysMore } from '../formats/statusWord.ts';
import { descriptionBelow, type Story, type StoryList } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';
import type { Conversion, Loss, LostFact, Target } from './conversion.ts';
import type { ConversionSource } from './conversionSource.ts';
import { inListTurns } from './inListTurns.ts';
import { nestedItems } from './nestedItems.ts';
import { otherFileKeys } from './otherFileKeys.ts';
import { otherFiles } from './otherFiles.ts';
import { hasSameKey, otherKeys } from './otherKeys.ts';
import { type KnownStories, knownStories } from './otherNeeds.ts';
import {
  datesOf,
  isOptional,
  listedEpicIds,
  oddMarks,
  otherLines,
  otherSections,
} from './otherText.ts';
import { withOwnIds } from './ownIds.ts';
import { descriptionOfItem, hasParagraphs, itemText, planText, titleOfItem } from './planWriter.ts';
import { linesOfRepeatedKeys } from './repeatedKeys.ts';
import { type TaskDates, taskGraphText } from './tasksWriter.ts';
import { orchestrationText } from './yamlWriter.ts';

/** A name by which the target's format is recognized. */
const FILE_NAMES: Readonly<Record<Target, string>> = {
  prd: 'prd.json',
  yaml: 'stories.yaml',
  plan: 'PLAN.md',
  tasks: 'tasks.jsonl',
};

/**
 * The stories of a file as the text of another format, and what is lost with that. What is lost is not a table of what
 * formats can hold: the new text is read, and compared with the old one. Pure.
 *
 * @param parsed a file with stories
 * @param now when tasks are created, if the target says so
 */
export function convertStories(parsed: ConversionSource, target: Target, now: Date): Conversion {
  const { file, lists } = parsed;
  const stories = storiesFor(target, lists === undefined ? ofItems(file) : inListTurns(lists));
  // As the file has them.
  const own = new Map(file.stories.map(story => [story.position, story]));
  const ownOf = (story: Story) => own.get(story.position) ?? story;
  const text = textOf({ ...file, stories }, target, {
    now,
    dates: () => stories.map(story => datesOf(parsed, ownOf(story))),
  });
  const back = parseStoryText(FILE_NAMES[target], text);
  const written = back.file;
  const found = written.kind === 'stories' ? written.stories : [];
  if (found.length !== stories.length) {
    // A defect of a writer, which must not cost a story.
    throw new Error(
      `${stories.length} stories were written as ${target}, and ${found.length} read.`,
    );
  }
  const losses = new Losses();
  const known = { epics: listedEpicIds(parsed), ...knownStories(parsed) };
  const marks = oddMarks(parsed);
  const nested = nestedItems(parsed);
  for (const [index, story] of stories.entries()) {
    const other = found[index] ?? story;
    for (const fact of lostFacts(story, other, target)) {
      losses.add(story, fact);
    }
    const before = ownOf(story);
    const keys = otherKeys(parsed, before, known);
    // Only a task graph has keys of which the model has no facts: the dates.
    const lost =
      target === 'tasks'
        ? keys.filter(key => !hasSameKey([parsed, before], [back, other], key))
        : keys;
    losses.addNamed(story, 'keys', lost);
    losses.addNamed(story, 'sections', otherSections(parsed, before));
    if (marks.has(story.position)) {
      losses.add(story, 'status');
    }
    if (isOptional(parsed, before)) {
      losses.add(story, 'optional');
    }
    if (nested.has(story.position)) {
      losses.add(story, 'nesting');
    }
  }
  return {
    text,
    stories: stories.length,
    losses: [
      ...losses.all(file.stories),
      ...lossesOfFile(parsed, { known, stories, written, found, text, target }),
    ],
  };
}

/** The title of an item of a plan begins with its id, and its description with its title: all are one text there. */
function ofItems({ format, stories }: StoryList): readonly Story[] {
  return format === 'plan' || format === 'specsIndex'
    ? stories.map(story => ({
        ...story,
        title: titleOfItem(story),
        description: descriptionOfItem(story),
      }))
    : stories;
}

/** The stories in the order, and with the ids, that the target has. */
function storiesFor(target: Target, stories: readonly Story[]): readonly Story[] {
  switch (target) {
    case 'plan':
      // That of its lines is the only order that a plan has: it has no dependencies.
      return inTurnOrder(stories);
    case 'prd':
      return withOwnIds(stories, 'US-001');
    case 'yaml':
    case 'tasks':
      return withOwnIds(stories, 'T-1');
    default:
      return assertNever(target);
  }
}

function textOf(
  list: StoryList,
  target: Target,
  { dates, now }: { readonly dates: () => readonly TaskDates[]; readonly now: Date },
): string {
  switch (target) {
    case 'prd':
      return prdFileText(list, { numbered: false });
    case 'yaml':
      return orchestrationText(list);
    case 'plan':
      return planText(list);
    case 'tasks':
      return taskGraphText(list, now, dates());
    default:
      return assertNever(target);
  }
}

function lostFacts(before: Story, after: Story, target: Target): LostFact[] {
  const lost: LostFact[] = [];
  const check = (fact: LostFact, isKept: boolean) => {
    if (!isKept) {
      lost.push(fact);
    }
  };
  const isPlan = target === 'plan';
  const ids = [before.id, after.id];
  check('id', ids.every(isNumberId) || before.id === after.id);
  check('title', after.title === before.title || (isPlan && after.title === itemText(before)));
  check(
    'description',
    after.description.trim() === before.description.trim() ||
      (isPlan && (descriptionBelow(before) === '' || after.description !== '')),
  );
  const texts = ({ criteria }: Story) => criteria.map(({ text }) => text);
  const isAsText = isPlan && before.criteria.length > 0;
  check(isAsText ? 'criteriaAsText' : 'criteria', isDeepStrictEqual(texts(before), texts(after)));
  const states = ({ criteria }: Story) => criteria.map(({ done }) => done);
  check(
    'criteriaStates',
    isDeepStrictEqual(states(before), states(after)) ||
      states(before).every(state => state === undefined),
  );
  check('done', before.done === after.done);
  check('status', before.parked === true || meaningfulStatus(before) === meaningfulStatus(after));
  check('parked', before.parked === after.parked);
  check('priority', before.priority === after.priority);
  check('dependsOn', isDeepStrictEqual([...before.dependsOn].sort(), [...after.dependsOn].sort()));
  const isInOthers = isPlan && before.epic === undefined && after.epic !== undefined;
  check(isInOthers ? 'otherEpic' : 'epic', before.epic === after.epic);
  for (const fact of ['model', 'effort', 'maxTurns', 'discoveredFrom', 'details'] as const) {
    check(fact, before[fact] === after[fact]);
  }
  return lost;
}

/** `undefined` if it only says whether the story is done, which is a fact of its own. */
function meaningfulStatus({ done, status }: Story): string | undefined {
  return status !== undefined && saysMore(status, done) ? status : undefined;
}

function lossesOfFile(
  parsed: ConversionSource,
  {
    found,
    known,
    stories,
    target,
    text,
    written,
  }: {
    readonly target: Target;
    readonly known: KnownStories;
    /** In the format of the target. */
    readonly text: string;
    readonly stories: readonly Story[];
    readonly found: readonly Story[];
    readonly written: ParsedStoryFile['file'];
  },
): Loss[] {
  const { file } = parsed;
  const losses: Loss[] = [];
  for (const fact of ['project', 'branchName', 'description'] as const) {
    const isText =
      target === 'plan' && fact === 'description' && hasParagraphs(text, file.description);
    if (!isText && written.kind === 'stories' && written[fact].trim() !== file[fact].trim()) {
      losses.push({ kind: 'heading', fact });
    }
  }
  const order = (list: readonly Story[]) => {
    const places = new Map(list.map((story, index) => [story, index]));
    return inTurnOrder(list).map(story => places.get(story));
  };
  if (!isDeepStrictEqual(order(found), order(stories))) {
    losses.push({ kind: 'order' });
  }
  const names = otherFileKeys(parsed, known);
  if (names.length > 0) {
    losses.push({ kind: 'fileKeys', names });
  }
  const files = otherFiles(parsed.text);
  if (files.length > 0) {
    losses.push({ kind: 'files', names: files });
  }
  if (parsed.documents !== undefined && parsed.documents.length > 0) {
    losses.push({ kind: 'documents', names: parsed.documents });
  }
  const count = otherLines(parsed);
  if (count > 0) {
    losses.push({ kind: 'lines', count });
  }
  const notRead = file.problems.filter(({ code }) => code === 'notAStory');
  const inFiles = notRead.flatMap(({ file: name }) => name ?? []);
  const lines = new Set(notRead.map(({ line }) => line));
  if (inFiles.length > 0 && inFiles.length === notRead.length) {
    losses.push({ kind: 'notRead', lines: notRead.map(({ line }) => line), files: inFiles });
  } else if (lines.size > 0) {
    losses.push({ kind: 'notRead', lines: [...lines].sort((one, other) => one - other) });
  }
  const repeated = linesOfRepeatedKeys(parsed);
  if (repeated.length > 0) {
    losses.push({ kind: 'repeatedKeys', lines: repeated });
  }
  return losses;
}

/** Losses of stories, one for each fact. */
class Losses {
  private readonly facts = new Map<LostFact, Set<number>>();
  private readonly names = { keys: new Set<string>(), sections: new Set<string>() };

  add(story: Story, fact: LostFact): void {
    this.facts.set(fact, (this.facts.get(fact) ?? new Set()).add(story.position));
  }

  addNamed(story: Story, fact: 'keys' | 'sections', names: readonly string[]): void {
    for (const name of names) {
      this.add(story, fact);
      this.names[fact].add(name);
    }
  }

  /** @param order of the stories */
  all(order: readonly Story[]): Loss[] {
    return [...this.facts].map(([fact, stories]) => ({
      kind: 'story',
      fact,
      storyIds: order.flatMap(({ id, position }) => (stories.has(position) ? [id] : [])),
      ...((fact === 'keys' || fact === 'sections') && { names: [...this.names[fact]] }),
    }));
  }
}
