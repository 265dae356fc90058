import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DESCRIPTION_KEYS,
  DISCOVERED_KEYS,
  DONE_KEYS,
  EPIC_KEYS,
  STATE_KEYS,
  TITLE_KEYS,
} from './prdKeys.ts';

/** Keys of entries that only a list of things to do has. */
const OWN_KEYS: readonly string[] = ['title', 'status', ...DONE_KEYS];
/** Together with an `id`. */
const NAME_KEYS: readonly string[] = ['name', 'heading', 'summary', 'story'];
/** An entry that has others as well may be a step of a program, such as `name` and a module of Ansible. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...['id', 'priority', 'parallel_group', 'commits', 'notes'],
  ...['model', 'effort', 'maxTurns', 'max_turns'],
  ...[...STATE_KEYS, ...DEPENDENCY_KEYS, ...DISCOVERED_KEYS],
  ...[...TITLE_KEYS, ...DESCRIPTION_KEYS, ...EPIC_KEYS, ...CRITERIA_KEYS],
]);

const TASKS_INSIDE = /^\s+(?:-\s+)?["']?tasks["']?[\t ]*:(.*)$/;

/** What is below a key of the root, by its lines alone: the text may be no YAML. */
interface Section {
  /** What follows the key on its line: the beginning of a list in brackets, or nothing. */
  readonly value: string;
  readonly lines: readonly string[];
}

/**
 * Whether a text that is no YAML has tasks, as far as its lines show: `tasks:`, in the root or in `phases:`, and below
 * it a list whose entries have the keys of tasks. In a Taskfile, the tasks are no list; those of a playbook or a
 * cluster are further inside.
 */
export function isOrchestrationText(text: string): boolean {
  return (
    sectionsOf(text, 'tasks').some(isTaskList) ||
    sectionsOf(text, 'phases').some(({ lines, value }) =>
      value === ''
        ? lines.some((line, at) => {
            const inner = TASKS_INSIDE.exec(line)?.[1];
            return (
              inner !== undefined &&
              isTaskList({ value: afterKey(inner), lines: lines.slice(at + 1) })
            );
          })
        : isTaskList({ value, lines }),
    )
  );
}

/**
 * Whether a YAML text has a place for tasks: a list `tasks` or `phases`, one of these keys with nothing below it, or
 * phases that are no list and have tasks.
 */
export function hasPlaceForTasks(text: string): boolean {
  return (
    ['tasks', 'phases'].some(key =>
      sectionsOf(text, key).some(({ lines: [first], value }) =>
        value === '' ? first === undefined || /^\s*-(?:\s|$)/.test(first) : value.startsWith('['),
      ),
    ) || sectionsOf(text, 'phases').some(({ lines }) => lines.some(line => TASKS_INSIDE.test(line)))
  );
}

function sectionsOf(text: string, key: string): Section[] {
  const start = new RegExp(`^(["']?)${key}\\1[\\t ]*:(.*)$`);
  return text.split(/^(?:---|\.\.\.)(?=\s|$)/m).flatMap(document => {
    const lines = document
      .split(/\r\n|\r|\n/)
      // An unresolved conflict of git may be just what makes it unreadable.
      .filter(line => !/^\s*(?:#|<{7}|$)/.test(line));
    const at = lines.findIndex(line => start.test(line));
    if (at === -1) {
      return [];
    }
    const below = lines.slice(at + 1);
    const end = below.findIndex(line => /^[^\s-][^\s:]*:/.test(line));
    return {
      value: afterKey(start.exec(lines[at] ?? '')?.[2] ?? ''),
      lines: end === -1 ? below : below.slice(0, end),
    };
  });
}

/** Without an anchor, a tag or a comment. */
function afterKey(rest: string): string {
  return rest.replace(/^(?:\s+[&!]\S*)*\s*(?:#.*)?/, '').trim();
}

function isTaskList({ lines, value }: Section): boolean {
  const keys = new Set(value === '' ? keysOfEntries(lines) : keysInBraces([value, ...lines]));
  const has = (key: string) => keys.has(key);
  const isNamed = TITLE_KEYS.some(has) || has('id');
  return (
    OWN_KEYS.some(has) ||
    (has('id') && NAME_KEYS.some(has)) ||
    (isNamed && [...keys].every(key => KNOWN_KEYS.has(key)))
  );
}

/** The keys of the entries of a list, as far as they stand where those of the first one do, or behind a tab. */
function keysOfEntries(lines: readonly string[]): string[] {
  const bullet = /^(\s*)-(?:(\s+)\S|$)/.exec(lines[0] ?? '');
  if (bullet === null) {
    return [];
  }
  const [, before = '', behind] = bullet;
  const column =
    behind === undefined
      ? (/^\s*/.exec(lines[1] ?? '')?.[0].length ?? 0)
      : before.length + 1 + behind.length;
  return lines.flatMap(line => {
    const [, indent = '', dash, gap = '', rest = ''] = /^(\s*)(?:(-)(\s+))?(.*)$/.exec(line) ?? [];
    const isOwn =
      dash === undefined
        ? indent.length === column || indent.includes('\t')
        : indent === before || indent.length + 1 + gap.length === column || indent.includes('\t');
    if (!isOwn) {
      return [];
    }
    return rest.startsWith('{')
      ? keysInBraces([rest])
      : (/^["']?([A-Za-z_][\w.-]*)["']?[\t ]*:/.exec(rest)?.slice(1, 2) ?? []);
  });
}

function keysInBraces(lines: readonly string[]): string[] {
  return [...lines.join('\n').matchAll(/[{,]\s*["']?([A-Za-z_][\w.-]*)["']?[\t ]*:/g)].flatMap(
    ([, key]) => key ?? [],
  );
}
