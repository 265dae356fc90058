import { visit } from 'yaml';
import { unreadOf } from '../formats/backlogTask.ts';
import { MEMORY } from '../formats/beadsFormat.ts';
import { readFrontMatter } from '../formats/frontMatter.ts';
import { type MarkdownLine, readMarkdown } from '../formats/markdownBlocks.ts';
import { isOptionalItem } from '../formats/planFormat.ts';
import { EPIC_PATH } from '../formats/planHeadings.ts';
import { isEntry } from '../formats/prdEntry.ts';
import type { Story, StoryList } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';
import { epicIds } from './otherEpics.ts';
import { folderSettings } from './otherFiles.ts';
import { dataIn, documentIn, entryOf, rootOf } from './sourceEntry.ts';
import type { TaskDates } from './tasksWriter.ts';

/** When a story was made and changed, if its file says so in the words of a task graph. */
export function datesOf(parsed: ParsedStoryFile, story: Story): TaskDates {
  const { created, updated } = (entryOf(parsed, story) ?? {}) as Record<string, unknown>;
  return {
    ...(typeof created === 'string' && created !== '' && { created }),
    ...(typeof updated === 'string' && updated !== '' && { updated }),
  };
}

/** The headings of a story's own file whose text the model has not. */
export function otherSections(parsed: ParsedStoryFile, story: Story): readonly string[] {
  return parsed.file.format === 'backlog' ? unreadOf(textOf(parsed, story), story).sections : [];
}

/** Whether an item of a plan is marked as one that need not be done. */
export function isOptional(parsed: ParsedStoryFile, story: Story): boolean {
  return parsed.file.format === 'plan' && isOptionalItem(textOf(parsed, story));
}

/** The positions of items of a plan whose marks are not known, so that nothing of them is left. */
export function oddMarks({ file: { format, problems } }: ParsedStoryFile): ReadonlySet<number> {
  const isPlan = format === 'plan' || format === 'specsIndex';
  return new Set(
    problems.flatMap(({ code, subject }) =>
      isPlan && code === 'unknownStatus' && subject !== undefined ? [subject.position] : [],
    ),
  );
}

function textOf({ spanOf, text }: ParsedStoryFile, { position }: Story): string {
  const { end, start } = spanOf(position);
  return text.slice(start, end);
}

/** The ids of the epics that a `prd.json` lists, by title. */
export function listedEpicIds(parsed: ParsedStoryFile): ReadonlyMap<string, string> {
  return parsed.file.format === 'prd' ? epicIds(rootOf(parsed)) : new Map();
}

/**
 * How many lines belong to no story, and are no items either: comments of YAML, also in settings, text of a plan outside
 * of its items, of a task of Backlog.md outside of its sections.
 */
export function otherLines(parsed: ParsedStoryFile): number {
  const { file, text } = parsed;
  if (file.kind === 'invalid') {
    return 0;
  }
  switch (file.format) {
    case 'orchestration':
    case 'bmad':
      return commentLines(text);
    case 'plan':
    case 'specsIndex': {
      const { lines } = readMarkdown(text);
      // The items that are not read are a loss of their own.
      const told = new Set(
        file.problems.flatMap(({ code, line }) => (code === 'notAStory' ? [line] : [])),
      );
      for (const story of file.stories) {
        for (const line of linesBelow(story, lines)) {
          told.add(line);
        }
      }
      const isGroup = groupNames(file);
      return lines.filter(
        line =>
          !told.has(line.line) &&
          ((line.kind === 'plain' && line.text.trim() !== '') ||
            (line.kind === 'heading' && !isGroup(line.title))),
      ).length;
    }
    case 'backlog': {
      const counts = file.stories.map(story => {
        const own = textOf(parsed, story);
        return unreadOf(own, story).lines + commentLines(readFrontMatter(own)?.block ?? '');
      });
      const inSettings = folderSettings(text).map(({ own }) => commentLines(own));
      return [...counts, ...inSettings].reduce((sum, count) => sum + count, 0);
    }
    case 'beads':
      return memoryLines(text);
    default:
      return 0;
  }
}

/** Whether the heading of a plan is the name of the project, or that of an epic, alone or with those above it. */
function groupNames({ project, stories }: StoryList): (title: string) => boolean {
  const epics = new Set(stories.flatMap(({ epic }) => epic ?? []));
  const names = new Set([...epics].flatMap(epic => [epic, ...epic.split(EPIC_PATH)]));
  return title => title === '' || title === project || names.has(title);
}

/** What `bd remember` has written: notes for agents among the issues. */
function memoryLines(text: string): number {
  return text.split('\n').filter(line => {
    const entry = line.includes(MEMORY) ? dataIn(line) : undefined;
    return isEntry(entry) && entry['_type'] === MEMORY;
  }).length;
}

/** The lines of a plan that are the description of an item, which begins with the text of the item's own line. */
function linesBelow({ description, line }: Story, lines: readonly MarkdownLine[]): number[] {
  let first = line;
  while (lines[first]?.text.trim() === '') {
    first += 1;
  }
  const count = description.split('\n').length - 1;
  return lines.slice(first, first + count).map(below => below.line);
}

function commentLines(text: string): number {
  const document = documentIn(text);
  if (document.errors.length > 0) {
    // Tools read their keys all the same, but the parser has lost its way.
    return text.split('\n').filter(line => /^(?:[^"'#]*[ \t])?#/.test(line)).length;
  }
  let count = 0;
  const add = ({ comment, commentBefore }: { comment?: unknown; commentBefore?: unknown }) => {
    for (const words of [comment, commentBefore]) {
      count += typeof words === 'string' ? words.split('\n').length : 0;
    }
  };
  add(document);
  visit(document, { Node: (_, node) => add(node) });
  return count;
}
