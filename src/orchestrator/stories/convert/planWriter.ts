import { isNumberId } from '../../../base/numberId.ts';
import { readMarkdown } from '../formats/markdownBlocks.ts';
import type { NewStoryFile } from '../formats/newStories.ts';
import { descriptionBelow } from '../story.ts';

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

/** What an item says, so that it is read with its id. */
export function itemText(id: string, title: string): string {
  return `${id}: ${title}`;
}

/** The title of a story that was read from an item: its id need not stand in it, where other formats have a key for it. */
export function titleOfItem(id: string, title: string): string {
  const before = itemText(id, '');
  const rest = title.startsWith(before) ? title.slice(before.length).trim() : '';
  return rest === '' ? title : rest;
}

function paragraphs(description: string): string {
  return description
    .trim()
    .split(/\r\n|\r|\n/)
    .map(asText)
    .join('\n');
}

function item(story: NewStoryFile['stories'][number]): string {
  const { criteria, done, id, title } = story;
  const isNamed = isNumberId(id) || title.startsWith(id);
  const line = `- [${done ? 'x' : ' '}] ${isNamed ? title : title === id ? id : itemText(id, title)}`;
  const description = descriptionBelow(story);
  const below = [
    ...(description === '' ? [] : description.split(/\r\n|\r|\n/).map(asText)),
    ...criteria.map(({ text }) => asText(`- ${text.replaceAll(/\s*[\r\n]+\s*/g, ' ')}`)),
  ];
  return `${[line, ...below.map(text => (text.trim() === '' ? '' : `  ${text}`))].join('\n')}\n`;
}

/** A line that is no heading, checkbox, fence or comment in a plan. */
function asText(line: string): string {
  return line
    .trimEnd()
    .replace(/^(\s*)(#{1,6}\s|`{3}|~{3}|<!--|-{3})/, '$1\\$2')
    .replace(/^([\s>]*(?:[-*+]|\d{1,9}[.)])\s+)(?=\[|`{3}|~{3})/, '$1\\');
}
