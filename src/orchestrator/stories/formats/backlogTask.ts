import type { Criterion } from '../story.ts';
import { type FolderPart, TASKS } from './folderText.ts';
import { type FrontMatter, listOf, readFrontMatter, textOf, valueIn } from './frontMatter.ts';
import { sectionOf } from './markdownSection.ts';
import { readPriority } from './prdKeys.ts';

/** One file of Backlog.md: https://github.com/MrLesk/Backlog.md. */
export interface BacklogTask {
  readonly matter: FrontMatter;
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly description: string;
  readonly criteria: readonly Criterion[];
  readonly dependencies: readonly string[];
  readonly milestone: string;
  readonly parent: string;
  /** Its place on the board: lowest first. */
  readonly ordinal: number | undefined;
  readonly priority: number | undefined;
}

/** A task with its part of the text of the folder. */
export interface PlacedTask {
  readonly task: BacklogTask;
  readonly part: FolderPart;
  readonly text: string;
}

const ID_IN_NAME = /^([a-z]+-\d+(?:\.\d+)*)(?![\w.]*\d)/i;

/**
 * Reads the text of a task.
 * @param name of its file, without folder
 * @returns `undefined` if it is not a task
 */
export function readBacklogTask(name: string, text: string): BacklogTask | undefined {
  const matter = readFrontMatter(text);
  const id = matter && (textOf(matter, 'id') || idInName(name));
  if (matter === undefined || id === undefined || id === '') {
    return undefined;
  }
  const body = text.slice(matter.bodyOffset);
  const title = textOf(matter, 'title') || name.replace(/\.md$/i, '');
  const ordinal = textOf(matter, 'ordinal');
  return {
    matter,
    id,
    title,
    status: textOf(matter, 'status'),
    description: descriptionOf(body),
    criteria: [
      ...criteriaOf(body, 'AC', 'Acceptance Criteria'),
      ...criteriaOf(body, 'DOD', 'Definition of Done'),
    ],
    dependencies: listOf(matter, 'dependencies'),
    milestone: textOf(matter, 'milestone'),
    parent: textOf(matter, 'parent_task_id'),
    ordinal: /^-?\d+(?:\.\d+)?$/.test(ordinal) ? Number(ordinal) : undefined,
    priority: readPriority(valueIn(matter, 'priority')),
  };
}

/** Whether something with this name, in the folder, would be a task. */
export function isTaskName(name: string): boolean {
  return name.startsWith(`${TASKS}/`);
}

/** The id at the start of a file's name, such as `task-12 - Title.md`. */
export function idInName(name: string): string | undefined {
  return ID_IN_NAME.exec(name)?.[1];
}

/**
 * The form in which the tool compares ids: `task-007` is `TASK-7`, and 7 alone, too.
 * @param prefix of ids that have none
 */
export function sameId(id: string, prefix: string): string {
  const [, own = prefix, number = ''] = /^(?:([A-Za-z]+)-)?(\d+(?:\.\d+)*)$/.exec(id.trim()) ?? [];
  const parts = number.split('.').map(part => part.replace(/^0+(?=\d)/, ''));
  return number === '' ? id.trim().toUpperCase() : `${own.toUpperCase()}-${parts.join('.')}`;
}

function descriptionOf(body: string): string {
  const marked = between(
    body,
    '<!-- SECTION:DESCRIPTION:BEGIN -->',
    '<!-- SECTION:DESCRIPTION:END -->',
  );
  const section = marked ?? sectionOf(body, 'Description');
  // A file that a person wrote may have no sections at all.
  return (section ?? (/^## /m.test(body) ? '' : body)).replaceAll('\r\n', '\n').trim();
}

function criteriaOf(body: string, mark: string, heading: string): Criterion[] {
  const section =
    between(body, `<!-- ${mark}:BEGIN -->`, `<!-- ${mark}:END -->`) ??
    sectionOf(body, heading) ??
    '';
  return section.split(/\r?\n/).flatMap(line => {
    const [, tick, text] = /^\s*[-*+] \[([ xX])\] (?:#\d+ )?(\S.*)$/s.exec(line) ?? [];
    return text === undefined ? [] : [{ text: text.trim(), done: tick !== ' ' }];
  });
}

function between(text: string, begin: string, end: string): string | undefined {
  const from = text.indexOf(begin);
  const to = from === -1 ? -1 : text.indexOf(end, from);
  return to === -1 ? undefined : text.slice(from + begin.length, to);
}
