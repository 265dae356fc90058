import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import type { JsonLine } from './formats/jsonLines.ts';
import { firstText, isDone, ownId } from './formats/prdEntry.ts';
import { TITLE_KEYS } from './formats/prdKeys.ts';
import { COMPACTED_TYPE, readTaskGraph } from './formats/tasksFormat.ts';

/** Finished tasks that stay, unless another number is given. */
export const KEPT_TASKS = 10;

export interface TaskCompaction {
  /** The new text of the file. */
  readonly text: string;
  /** The lines that are no longer in it, as they were. */
  readonly removed: string;
  readonly tasks: readonly { readonly id: string; readonly title: string }[];
}

/**
 * Takes the older finished tasks out of a task graph. The file names them in a line, so that what waits for them stays
 * ready. Pure; `undefined` if nothing can be taken out.
 *
 * @param keep the newest finished tasks that stay, by `updated`; at least 1
 * @param archive where the lines go, for the line in the file
 * @throws {HumanError} if the file cannot be read
 */
export function compactTasks(
  text: string,
  { archive, keep, now }: { readonly archive: string; readonly keep: number; readonly now: Date },
): TaskCompaction | undefined {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const content = text.slice(bom.length);
  const graph = readTaskGraph(content);
  if (!('tasks' in graph)) {
    throw new HumanError(say('Line {0}: {1}', graph.line, graph.message));
  }
  const counts = new Map<string | undefined, number>();
  for (const { entry } of graph.tasks) {
    counts.set(ownId(entry), (counts.get(ownId(entry)) ?? 0) + 1);
  }
  // Nothing can name a task without an id of its own.
  const old = graph.tasks
    .filter(({ entry }) => isDone(entry) && ownId(entry) !== undefined)
    .filter(({ entry }) => counts.get(ownId(entry)) === 1)
    .toSorted((one, other) =>
      dateOf(one) < dateOf(other) ? -1 : dateOf(one) > dateOf(other) ? 1 : 0,
    )
    .slice(0, -Math.max(1, keep));
  if (old.length === 0) {
    return undefined;
  }
  const gone = new Set(old);
  let kept = '';
  let removed = '';
  let from = 0;
  for (const line of graph.tasks) {
    const start = content.lastIndexOf('\n', line.start - 1) + 1;
    const newline = content.indexOf('\n', line.end);
    const end = newline === -1 ? content.length : newline + 1;
    if (gone.has(line)) {
      kept += content.slice(from, start);
      removed += withBreak(content.slice(start, end));
      from = end;
    }
  }
  kept += content.slice(from);
  const tasks = old.map(({ entry }) => {
    const id = ownId(entry) ?? '';
    return {
      id,
      title:
        firstText(entry, TITLE_KEYS)
          ?.trim()
          .split(/[\r\n]/, 1)[0] ?? id,
    };
  });
  const marker = {
    type: COMPACTED_TYPE,
    ids: tasks.map(({ id }) => id),
    at: now.toISOString(),
    archive,
  };
  const eol = /\r?\n/.exec(content)?.[0] ?? '\n';
  return {
    text: `${bom}${withBreak(kept, eol)}${JSON.stringify(marker)}${eol}`,
    removed,
    tasks,
  };
}

function withBreak(text: string, eol = '\n'): string {
  return text === '' || text.endsWith('\n') ? text : text + eol;
}

/** ISO dates sort as texts; a task without a date is older than all others. */
function dateOf({ entry }: JsonLine): string {
  return [entry['updated'], entry['created']].find(at => typeof at === 'string') ?? '';
}

/** `1 finished task`, `2 finished tasks`. */
export function finishedTasks(count: number): string {
  return count === 1 ? '1 finished task' : `${count} finished tasks`;
}
