import { isNumberId } from '../../../base/numberId.ts';
import { titleNextTo } from '../../../base/storyTitle.ts';
import { ASIDE_MARK, asideLabel, isAsideText } from '../formats/asideItems.ts';
import { idInText } from '../formats/idInText.ts';
import { readMarkdown } from '../formats/markdownBlocks.ts';
import type { NewStoryFile } from '../formats/newStories.ts';
import { descriptionBelow, type Story } from '../story.ts';
import { escaped, unescaped } from './planEscapes.ts';

type NewStory = NewStoryFile['stories'][number];

/** A plan has no other way to say that stories after an epic belong to none, and its order is that of the work. */
const NO_EPIC = 'Other stories';

/** Stories as the text of a Markdown plan: a heading for each epic, a checkbox for each story. */
export function planText({ description, project, stories }: NewStoryFile): string {
  const parts: string[] = project === '' ? [] : [`# ${project}\n`];
  if (description.trim() !== '') {
    parts.push(`${paragraphs(description)}\n`);
  }
  let items: string[] = [];
  let epic: string | undefined;
  for (const story of stories) {
    if (story.epic !== epic) {
      epic = story.epic;
      parts.push(...(items.length > 0 ? [items.join('')] : []), `## ${epic ?? NO_EPIC}\n`);
      items = [];
    }
    items.push(item(story));
  }
  return [...parts, items.join('')].join('\n');
}

/**
 * Whether a plan has this description of the project as its text: what stands there between the title and the first
 * epic or item. It is no description to those who read the file as stories, but nothing of it is lost.
 */
export function hasParagraphs(plan: string, description: string): boolean {
  const { lines } = readMarkdown(plan);
  const [first] = lines;
  const below = first?.kind === 'heading' && first.level === 1 ? lines.slice(1) : lines;
  const end = below.findIndex(({ kind }) => kind !== 'plain');
  const text = below.slice(0, end === -1 ? undefined : end);
  return (
    text.every(line => line.kind === 'plain' && !line.isHidden) &&
    text
      .map(line => line.text)
      .join('\n')
      .trim() === paragraphs(description)
  );
}

/** What an item says, so that it is read with its id, and as put aside if its story is. */
export function itemText(story: NewStory): string {
  const { id, status, title } = story;
  const text = withId(id, title);
  if (!isAside(story)) {
    return text;
  }
  const label = asideLabel(status);
  const bare = idInText(title) === id ? titleNextTo(id, title) : title;
  // Behind an id of an unusual form the word is not found.
  return [text, withId(id, `${label} ${bare}`), `${label} ${text}`].find(isAsideText) ?? text;
}

/** With the id before it, unless the title says it already. One that no item can have is not repeated either. */
function withId(id: string, title: string): string {
  const text = `${id}: ${title}`;
  const isSaid = idInText(title) === id || (beginsWith(title, id) && idInText(text) !== id);
  return isNumberId(id) || isSaid ? title : text;
}

/** Whether a title begins with an id as a word of its own, and not as the first letters of another one. */
function beginsWith(title: string, id: string): boolean {
  return title.startsWith(id) && !/^[\p{L}\p{N}_-]/u.test(title.slice(id.length));
}

function isAside({ done, parked }: NewStory): boolean {
  return !done && parked === true;
}

/**
 * The title of a story that was read from an item: its id, and the word that says that it is put aside, need not stand
 * in it where other formats have keys for them.
 */
export function titleOfItem(story: Story): string {
  const { id, status, title } = story;
  const shown = isNumberId(id) ? title : titleNextTo(id, title);
  const label = isAside(story) ? asideLabel(status) : '';
  const rest = shown.startsWith(`${label} `) ? shown.slice(label.length).trim() : '';
  return rest === '' ? shown : rest;
}

/** The description of a story that was read from an item, without what {@link planText} has added to its lines. */
export function descriptionOfItem(story: Story): string {
  return descriptionBelow(story).split('\n').map(unescaped).join('\n');
}

function paragraphs(description: string): string {
  return description
    .trim()
    .split(/\r\n|\r|\n/)
    .map(escaped)
    .join('\n');
}

function item(story: NewStory): string {
  const { criteria, done } = story;
  const mark = done ? 'x' : isAside(story) ? ASIDE_MARK : ' ';
  const line = `- [${mark}] ${onOneLine(itemText(story))}`;
  const description = descriptionBelow(story);
  const below = [
    ...(description === '' ? [] : description.split(/\r\n|\r|\n/).map(escaped)),
    ...criteria.map(({ text }) => escaped(`- ${onOneLine(text)}`)),
  ];
  return `${[line, ...below.map(text => (text.trim() === '' ? '' : `  ${text}`))].join('\n')}\n`;
}

function onOneLine(text: string): string {
  return text
    .split(/[\r\n]+/)
    .map(line => line.trim())
    .join(' ')
    .trim();
}
