import type { BacklogSettings } from '../formats/backlogSettings.ts';
import { type BacklogTask, sameId } from '../formats/backlogTask.ts';
import { inertLine } from './inertLine.ts';
import { type NewStory, originLines } from './newStory.ts';

/** The distance of places on the board, as the tool numbers them. */
const STEP = 1000;
/** Of a name, in bytes; file systems allow 255. */
const MAX_NAME = 180;

/**
 * The id of the next task, as the tool counts: parts have numbers below that of their task, and archived tasks only
 * count while others wait for them or are their parts.
 * @param completed ids of completed tasks
 */
export function nextTaskId(
  tasks: readonly BacklogTask[],
  completed: Iterable<string>,
  { digits, prefix }: BacklogSettings,
): string {
  const form = new RegExp(`^${prefix.toUpperCase()}-(\\d{1,9})$`);
  // Of a part of a task that is no longer there, the number is that of the task.
  const named = tasks
    .flatMap(({ dependencies, parent }) => [...dependencies, parent])
    .map(id => sameId(id.trim().replace(/^task-(?=\d)/i, ''), prefix).replace(/\..*/s, ''));
  const all = [...tasks.map(({ id }) => sameId(id, prefix)), ...completed, ...named];
  const numbers = all.map(id => Number(form.exec(id)?.[1] ?? 0));
  const next = String(numbers.reduce((most, number) => Math.max(most, number), 0) + 1);
  // Older versions of the tool write small letters.
  const models = tasks.map(({ id }) => id.slice(0, prefix.length));
  const written = models.findLast(model => model.toLowerCase() === prefix.toLowerCase());
  return `${written ?? prefix.toUpperCase()}-${next.padStart(digits, '0')}`;
}

/** The name and the text of the file of a new task, as the tool writes them. */
export function newTaskFile(
  story: NewStory,
  tasks: readonly { readonly task: BacklogTask; readonly text: string }[],
  { openStatus }: Pick<BacklogSettings, 'openStatus'>,
): { readonly name: string; readonly text: string } {
  const places = tasks.flatMap(({ task: { ordinal } }) => ordinal ?? []);
  const place = Math.floor(places.reduce((most, one) => Math.max(most, one), 0)) + STEP;
  const lines = [
    '---',
    `id: ${story.id}`,
    `title: ${scalar(story.title)}`,
    `status: ${scalar(openStatus)}`,
    'assignee: []',
    `created_date: '${(story.at ?? new Date(0)).toISOString().slice(0, 16).replace('T', ' ')}'`,
    'labels: []',
    'dependencies: []',
    ...(places.length === 0 ? [] : [`ordinal: ${place}`]),
    '---',
    '',
    '## Description',
    '',
    '<!-- SECTION:DESCRIPTION:BEGIN -->',
    originLines(story).map(inertLine).join('\n\n'),
    '<!-- SECTION:DESCRIPTION:END -->',
    '',
  ];
  const eol = tasks.at(-1)?.text.includes('\r\n') === true ? '\r\n' : '\n';
  return {
    name: `${story.id.toLowerCase()} - ${nameOf(story.title)}.md`,
    text: lines.join('\n').replaceAll('\n', eol),
  };
}

/** A title as a part of a file's name, without what the tool leaves out there. */
function nameOf(title: string): string {
  const plain = title
    .replaceAll(/[<>:"/\\|?*]/g, '-')
    .replaceAll(/['(),!@#$%^&+=[\]{};\p{Cc}\uFFFD]/gu, '')
    .replaceAll(/\s+/g, '-')
    .replaceAll(/-+/g, '-');
  let name = '';
  for (const character of plain) {
    if (Buffer.byteLength(name + character) > MAX_NAME) {
      break;
    }
    name += character;
  }
  return name.replaceAll(/^-|-$/g, '') || 'untitled';
}

/** With quotes only if it would be something else without. */
function scalar(text: string): string {
  const isPlain = /^\p{L}[\p{L}\p{N} _/-]*$/u.test(text) && text === text.trim();
  return isPlain && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
    ? text
    : `'${text.replaceAll("'", "''")}'`;
}
