import { shorten } from '../../../base/text.ts';
import type { Criterion } from '../story.ts';
import { type FolderPart, TASKS } from './folderText.ts';
import { type FrontMatter, listOf, readFrontMatter, textOf, valueIn } from './frontMatter.ts';
import { sectionOf } from './markdownSection.ts';
import { readPriority } from './prdEntry.ts';

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
  /** Keys whose values cannot be read, with what is written there, on one line. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** A task with its part of the text of the folder. */
export interface PlacedTask {
  readonly task: BacklogTask;
  readonly part: FolderPart;
  readonly text: string;
}

/** The keys that are read, all but one with a text. */
const KEYS = [
  ...(['id', 'title', 'status', 'dependencies', 'milestone'] as const),
  ...(['parent_task_id', 'ordinal', 'priority'] as const),
];
/** Of a value that cannot be read, no more than this is shown. */
const MAX_SHOWN = 100;

const ID_IN_NAME = /^([a-z]+-\d+(?:\.\d+)*)(?![\w.]*\d)/i;

/**
 * Reads the text of a task.
 * @param name of its file, without folder
 * @returns `undefined` if it is not a task
 */
export function readBacklogTask(name: string, text: string): BacklogTask | undefined {
  const matter = readFrontMatter(text);
  if (matter === undefined) {
    return undefined;
  }
  const values = new Map(KEYS.map(key => [key, valueIn(matter, key)]));
  const wordsOf = (key: (typeof KEYS)[number]) => textOf(values.get(key));
  const id = wordsOf('id') || idInName(name);
  if (id === undefined) {
    return undefined;
  }
  const body = text.slice(matter.bodyOffset);
  const unreadable = unreadableIn(matter, values);
  return {
    matter,
    id,
    title: wordsOf('title') || name.replace(/\.md$/i, ''),
    status: wordsOf('status'),
    description: descriptionOf(body),
    criteria: [
      ...criteriaOf(body, 'AC', 'Acceptance Criteria'),
      ...criteriaOf(body, 'DOD', 'Definition of Done'),
    ],
    // No task has such an id, so this one does not start before somebody has said what it waits for.
    dependencies: [
      unreadable.get('dependencies') ?? listOf(values.get('dependencies') ?? []) ?? [],
    ].flat(),
    milestone: wordsOf('milestone'),
    parent: wordsOf('parent_task_id'),
    ordinal: numberIn(wordsOf('ordinal')),
    priority: readPriority(values.get('priority')),
    unreadable,
  };
}

function numberIn(words: string): number | undefined {
  return /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(words) ? Number(words) : undefined;
}

function unreadableIn(
  { fields }: FrontMatter,
  values: ReadonlyMap<string, unknown>,
): BacklogTask['unreadable'] {
  const found = fields.filter(({ key }) => {
    const value = values.get(key);
    const isRead = key === 'dependencies' ? listOf(value) !== undefined : typeof value === 'string';
    const isNoPlace =
      key === 'ordinal' &&
      !/^(?:|null|~)$/i.test(textOf(value)) &&
      numberIn(textOf(value)) === undefined;
    return values.has(key) && (!isRead || isNoPlace);
  });
  return new Map(found.map(({ key, raw }) => [key, shorten(textOf(raw), MAX_SHOWN)]));
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

/**
 * What a task has besides its front matter, description and criteria.
 * @param text of its file
 */
export function unreadOf(
  text: string,
  { criteria, description }: Pick<BacklogTask, 'criteria' | 'description'>,
): {
  /** Headings of the sections that are not read, and have a text. */
  readonly sections: readonly string[];
  /** How many other lines are not read. */
  readonly lines: number;
} {
  const matter = readFrontMatter(text);
  const body = text.slice(matter?.bodyOffset ?? 0);
  const marked = between(body, DESCRIPTION_BEGIN, DESCRIPTION_END);
  const rest =
    marked === undefined
      ? body
      : body.replace(DESCRIPTION_BEGIN + marked + DESCRIPTION_END, () => '');
  const described = new Set(description.split('\n').map(line => line.trim()));
  const texts = new Set(criteria.map(criterion => criterion.text));
  const sections = new Set<string>();
  let lines = matter === undefined ? 0 : linesAbove(matter);
  let heading = '';
  for (const line of rest.split(/\r?\n/)) {
    const words = line.trim();
    if (/^## /.test(line)) {
      heading = words.slice(2).trim();
    } else if (words !== '' && !SECTION_MARK.test(words)) {
      if (heading !== '' && !READ_SECTION.test(heading)) {
        sections.add(heading);
      } else if (!described.has(words) && !texts.has(criterionIn(line)?.text ?? '')) {
        lines++;
      }
    }
  }
  return { sections: [...sections], lines };
}

/** How many lines of front matter stand above its first key, and are no comments. */
function linesAbove({ above }: FrontMatter): number {
  return above.split('\n').filter(line => /^\s*[^\s#]/.test(line)).length;
}

const DESCRIPTION_BEGIN = '<!-- SECTION:DESCRIPTION:BEGIN -->';
const DESCRIPTION_END = '<!-- SECTION:DESCRIPTION:END -->';
const SECTION_MARK = /^<!-- [A-Z_:]+:(?:BEGIN|END) -->$/;
const READ_SECTION = /^(?:Description|Acceptance Criteria|Definition of Done)(?: \(Optional\))?$/i;

function descriptionOf(body: string): string {
  const marked = between(body, DESCRIPTION_BEGIN, DESCRIPTION_END);
  const section = marked ?? sectionOf(body, 'Description');
  // A file that a person wrote may have no sections at all.
  return (section ?? (/^## /m.test(body) ? '' : body)).replaceAll('\r\n', '\n').trim();
}

function criteriaOf(body: string, mark: string, heading: string): Criterion[] {
  const section =
    between(body, `<!-- ${mark}:BEGIN -->`, `<!-- ${mark}:END -->`) ??
    sectionOf(body, heading) ??
    '';
  return section.split(/\r?\n/).flatMap(line => criterionIn(line) ?? []);
}

function criterionIn(line: string): Criterion | undefined {
  const [, tick, text] = /^\s*[-*+] \[([ xX])\] (?:#\d+ )?(\S.*)$/s.exec(line) ?? [];
  return text === undefined ? undefined : { text: text.trim(), done: tick !== ' ' };
}

function between(text: string, begin: string, end: string): string | undefined {
  const from = text.indexOf(begin);
  const to = from === -1 ? -1 : text.indexOf(end, from);
  return to === -1 ? undefined : text.slice(from + begin.length, to);
}
