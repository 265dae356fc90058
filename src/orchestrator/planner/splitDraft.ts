import { isDeepStrictEqual } from 'node:util';
import type { Edit } from 'jsonc-parser';
import * as z from 'zod';
import { decodeText } from '../../base/decodeText.ts';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { boundedProblems, problemsOf } from '../agents/call/agentAnswer.ts';
import { jsonSchemaOf } from '../agents/call/jsonSchema.ts';
import { type Habits, habitsOf } from '../stories/diagnosis/habits.ts';
import { PrdDocument } from '../stories/diagnosis/prdDocument.ts';
import { editedText } from '../stories/edit/editedText.ts';
import { elementsOfMember, skipSpace } from '../stories/formats/jsonOutline.ts';
import { dependencyId, type Entry, isEntry, ownId, titleOf } from '../stories/formats/prdEntry.ts';
import { CHILD_KEYS, epicsOf, listedEpics } from '../stories/formats/prdEpics.ts';
import { CRITERIA_KEYS, DEPENDENCY_KEYS, TITLE_KEYS } from '../stories/formats/prdKeys.ts';
import { StoryNames } from '../stories/formats/storyNames.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import { PLAN_LIMITS } from './planDraft.ts';
import { partsEdit, partText, referenceEdits } from './splitEdits.ts';

const MIN_PARTS = 2;
export const MAX_PARTS = 5;

const text = (max: number) => z.string().trim().min(1).max(max);

const partSchema = z.looseObject({
  title: text(PLAN_LIMITS.title).refine(
    value => !/[\r\n]/.test(value),
    say('must be one line of text').key,
  ),
  description: z.string().trim().max(PLAN_LIMITS.description).optional(),
  acceptanceCriteria: z.array(text(PLAN_LIMITS.criterion)).min(1).max(PLAN_LIMITS.criteria),
  after: z
    .array(z.number().int().min(1).max(MAX_PARTS))
    .optional()
    .describe('numbers of the parts that must be done before, from 1; earlier ones only'),
});

const splitSchema = z.looseObject({
  parts: z.array(partSchema).min(MIN_PARTS).max(MAX_PARTS),
});

export type SplitPart = z.infer<typeof partSchema>;

/** The structure of a split as JSON Schema, for agents that support it. */
export function splitJsonSchema(): object {
  return jsonSchemaOf(splitSchema);
}

/** Validates a planning agent's answer. Pure. */
export function checkSplit(
  answer: unknown,
):
  | { readonly parts: readonly SplitPart[]; readonly problems?: undefined }
  | { readonly problems: readonly Message[] } {
  const parsed = splitSchema.safeParse(answer);
  if (!parsed.success) {
    return { problems: problemsOf(parsed.error) };
  }
  const { parts } = parsed.data;
  const problems = parts.flatMap(({ after = [] }, index) =>
    after.some(number => number > index)
      ? [say('Part {0}: "after" may only name earlier parts.', index + 1)]
      : [],
  );
  return problems.length > 0 ? { problems: boundedProblems(problems) } : { parts };
}

/**
 * Replaces a story by its parts: each part depends on what the story depended on, and stories that depended on it
 * depend on all parts. The rest of the file is unchanged. Pure.
 *
 * @throws {HumanError} if the file has no such open story, or is written in a way that does not allow this
 */
export function applySplit(content: string, storyId: string, parts: readonly SplitPart[]): string {
  const { bom, text: fileText } = decodeText(content);
  return bom + splitIn(fileText, storyId, parts);
}

function splitIn(fileText: string, storyId: string, parts: readonly SplitPart[]): string {
  const file = parseStoryFile('prd.json', fileText);
  const story = openStory(file, storyId);
  const document = file.kind === 'stories' ? PrdDocument.read(fileText) : undefined;
  const entry = document?.entry(story.position);
  const list = document?.listSpan();
  if (
    file.kind !== 'stories' ||
    document === undefined ||
    entry === undefined ||
    list === undefined
  ) {
    throw cannotSplit(storyId);
  }
  const ids = partIds(file, storyId, parts.length);
  const span = document.span(story.position);
  const own = { entry, text: fileText.slice(span.start, span.end) };
  const habits = habitsOf(document);
  const texts = parts.map((part, index) => textOf(part, index, own, ids, habits));
  const after = editedText(fileText, [
    ...renamingEdits(document, file, story, ids),
    partsEdit(fileText, list, span, texts),
  ]);
  requireJustThat(after, file, story, parts, ids);
  return after;
}

/**
 * What waits for the story, and its epic, name its parts. Where other stories were discovered stays: the journal and
 * the commits have the id of the story.
 */
function renamingEdits(
  document: PrdDocument,
  { stories }: StoryList,
  story: Story,
  ids: readonly string[],
): Edit[] {
  const { root, text } = document;
  // Who names an epic waits for all of its stories, whichever they are: to the names, they have none.
  const groups = epicsOf(root).map(epic => ({ id: ownId(epic), name: titleOf(epic), stories: [] }));
  const names = new StoryNames(stories, groups);
  const isStory = (meant: readonly string[]) => meant.length === 1 && meant[0] === story.id;
  const isMeant = (name: string) => isStory(names.meantBy(name));
  const isMeantByEpic = (name: string) => isStory(names.meantByGroup(name));
  const epics = listedEpics(root);
  const epicSpans = epics.length === 0 ? [] : elementsOfMember(text, skipSpace(text, 0), 'epics');
  return [
    ...stories.flatMap(other => {
      const entry = other === story ? undefined : document.entry(other.position);
      const { start } = document.span(other.position);
      return entry === undefined
        ? []
        : referenceEdits(text, { entry, start }, DEPENDENCY_KEYS, isMeant, ids);
    }),
    ...epics.flatMap((entry, index) => {
      const epic = isEntry(entry) ? { entry, start: epicSpans[index]?.start ?? 0 } : undefined;
      return epic === undefined
        ? []
        : [
            ...referenceEdits(text, epic, CHILD_KEYS, name => name === story.id, ids),
            ...referenceEdits(text, epic, DEPENDENCY_KEYS, isMeantByEpic, ids),
          ];
    }),
  ];
}

/** @throws {HumanError} if there is no such story, or it is done */
export function openStory(file: ReturnType<typeof parseStoryFile>, storyId: string): Story {
  const found = file.kind === 'stories' ? file.stories.filter(({ id }) => id === storyId) : [];
  const [story] = found;
  if (story === undefined || found.length > 1) {
    throw new HumanError(
      found.length > 1
        ? say(
            'There are {0} stories with the id {1}. Give each an id of its own first.',
            found.length,
            shorten(storyId, 80),
          )
        : say('There is no story {0} in the story file.', shorten(storyId, 80)),
    );
  }
  if (story.done) {
    throw new HumanError(say('{0} is done, so there is nothing to split.', shorten(storyId, 80)));
  }
  return story;
}

function textOf(
  { acceptanceCriteria, after = [], description, title }: SplitPart,
  index: number,
  story: { readonly entry: Entry; readonly text: string },
  ids: readonly string[],
  habits: Habits,
): string {
  const { entry, text } = story;
  const values = new Map<string, string | readonly string[]>([
    ['id', ids[index] ?? ''],
    [keyOf(entry, TITLE_KEYS, 'title'), title],
    ...(description === undefined ? [] : [['description', description] as const]),
    [keyOf(entry, CRITERIA_KEYS, habits.criteriaKey), acceptanceCriteria],
  ]);
  const isUsed = (key: string) =>
    Array.isArray(entry[key]) || dependencyId(entry[key]) !== undefined;
  // What is not read is not replaced either.
  const isFree = (key: string) => (entry[key] ?? '') === '';
  const keys = [habits.dependencyKey, ...DEPENDENCY_KEYS];
  return partText(text, values, {
    key: DEPENDENCY_KEYS.find(isUsed) ?? keys.find(isFree) ?? habits.dependencyKey,
    ids: [...new Set(after)].flatMap(n => ids[n - 1] ?? []),
  });
}

/** `US-003.1`, `US-003.2`, …; longer ones if the file already has such ids. */
function partIds({ stories }: StoryList, storyId: string, count: number): string[] {
  const taken = new Set(stories.map(({ id }) => id));
  for (let separator = '.'; ; separator += '.') {
    const ids = Array.from({ length: count }, (_, index) => `${storyId}${separator}${index + 1}`);
    if (!ids.some(id => taken.has(id))) {
      return ids;
    }
  }
}

function withParts({ dependsOn }: Story, storyId: string, ids: readonly string[]): string[] {
  return dependsOn.flatMap(id => (id === storyId ? ids : [id]));
}

/** The key that the entry itself uses. */
function keyOf(entry: Entry, keys: readonly string[], usual: string): string {
  return keys.find(key => key in entry) ?? usual;
}

/**
 * Checks how the loop will read the file: dialects use different names, so the edit may have another effect than
 * intended.
 */
function requireJustThat(
  after: string,
  before: StoryList,
  story: Story,
  parts: readonly SplitPart[],
  ids: readonly string[],
): void {
  const saying = ({ id, title, criteria, done, dependsOn, epic }: Story) => ({
    ...{ id, title, done, epic, dependsOn: dependsOn.toSorted() },
    criteria: criteria.map(criterion => criterion.text),
  });
  const expected = before.stories.flatMap(other =>
    other === story
      ? parts.map(({ acceptanceCriteria, after: earlier = [], title }, index) => ({
          ...{ id: ids[index], title, done: false, criteria: acceptanceCriteria, epic: story.epic },
          dependsOn: [
            ...story.dependsOn,
            ...[...new Set(earlier)].flatMap(n => ids[n - 1] ?? []),
          ].toSorted(),
        }))
      : [{ ...saying(other), dependsOn: withParts(other, story.id, ids).toSorted() }],
  );
  const file = parseStoryFile('prd.json', after);
  if (file.kind !== 'stories' || !isDeepStrictEqual(file.stories.map(saying), expected)) {
    throw cannotSplit(story.id);
  }
}

function cannotSplit(storyId: string): HumanError {
  return new HumanError(
    say(
      'Because of the way the story file is written, {0} cannot be split automatically. Split it in the file.',
      shorten(storyId, 80),
    ),
  );
}
