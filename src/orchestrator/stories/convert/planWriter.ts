import { isNumberId } from '../../../base/numberId.ts';
import { inWorkOrder } from '../edit/workOrder.ts';
import type { NewStoryFile } from '../formats/newStories.ts';
import type { Story } from '../story.ts';

/** Stories in the order of their turns, because that of its lines is the only one that a plan has. */
export function inPlanOrder(stories: readonly Story[]): readonly Story[] {
  return inWorkOrder(stories);
}

/** Stories as the text of a Markdown plan: a heading for each epic, a checkbox for each story. */
export function planText({ description, project, stories }: NewStoryFile): string {
  const parts: string[] = project === '' ? [] : [`# ${project}\n`];
  if (description.trim() !== '') {
    parts.push(
      `${description
        .trim()
        .split(/\r\n|\r|\n/)
        .map(asText)
        .join('\n')}\n`,
    );
  }
  let items: string[] = [];
  let epic: string | undefined;
  for (const story of stories) {
    if (story.epic !== epic) {
      epic = story.epic;
      parts.push(...(items.length > 0 ? [items.join('')] : []), `## ${epic ?? ''}\n`);
      items = [];
    }
    items.push(item(story));
  }
  return [...parts, items.join('')].join('\n');
}

function item(story: NewStoryFile['stories'][number]): string {
  const { criteria, done, id, title } = story;
  const isNamed = isNumberId(id) || title.startsWith(id);
  const line = `- [${done ? 'x' : ' '}] ${isNamed ? title : title === id ? id : `${id}: ${title}`}`;
  const description = descriptionBelow(story);
  const below = [
    ...(description === '' ? [] : description.split(/\r\n|\r|\n/).map(asText)),
    ...criteria.map(({ text }) => asText(`- ${text.replaceAll(/\s*[\r\n]+\s*/g, ' ')}`)),
  ];
  return `${[line, ...below.map(text => (text.trim() === '' ? '' : `  ${text}`))].join('\n')}\n`;
}

/** Without its first line, if that is the title. */
export function descriptionBelow({
  description,
  title,
}: Pick<Story, 'description' | 'title'>): string {
  const text = description.trim();
  const [first = '', ...rest] = text.split(/\r\n|\r|\n/);
  return (first.trim() === title ? rest.join('\n') : text).trim();
}

/** A line that is no heading, checkbox, fence or comment in a plan. */
function asText(line: string): string {
  return line
    .trimEnd()
    .replace(/^(\s*)(#{1,6}\s|`{3}|~{3}|<!--|-{3})/, '$1\\$2')
    .replace(/^([\s>]*(?:[-*+]|\d{1,9}[.)])\s+)(?=\[|`{3}|~{3})/, '$1\\');
}
