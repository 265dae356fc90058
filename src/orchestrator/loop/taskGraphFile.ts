import { lstatSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createFolder } from '../../base/createFolder.ts';
import { decodeText } from '../../base/decodeText.ts';
import { HumanError } from '../../base/humanError.ts';
import {
  appendPlainFile,
  openPlainFile,
  readPlainFile,
  requireAppendable,
  requireNoLink,
} from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { relative, requireArchive, withArchive } from '../planner/placeStories.ts';
import { editFile, replaceUnchanged } from '../stories/edit/fileEdit.ts';
import { formatOf } from '../stories/formats/formatOf.ts';
import { ownId, readDependencies } from '../stories/formats/prdEntry.ts';
import { readTaskGraph } from '../stories/formats/tasksFormat.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { MAX_STORY_FILE_BYTES, requireReadableSize } from '../stories/storyFile.ts';
import { isSameFile, requireTarget } from '../stories/targetFile.ts';
import { compactTasks, finishedTasks, type TaskCompaction } from '../stories/taskCompaction.ts';
import { type GraphNames, importTasks, type TaskImport } from '../stories/taskImport.ts';
import { RunHistory } from '../workspace/history.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** The task graph of a workspace, below its folder. */
export const TASK_GRAPH = path.join('.ralph', 'tasks.jsonl');
const MAX_CONTEXT_BYTES = 1024 * 1024;

/**
 * Appends the stories of a `prd.json` to a task graph, which is created if there is none. No agent may be at work.
 *
 * @param graph absolute path
 * @throws {HumanError} if the stories cannot be read, an id is taken, or the file cannot be written
 */
export async function importIntoGraph(
  files: RunFiles,
  graph: string,
  source: string,
  { dryRun, now }: { readonly dryRun: boolean; readonly now: Date },
): Promise<TaskImport> {
  requireInside(graph);
  requireInside(source);
  const exists = await requireTarget(graph, source);
  const text = await textOf(source);
  // A task graph that is named as the source is said to be one.
  if (formatOf(source, text ?? '').name !== 'tasks' && (await isSameFile(graph, source))) {
    throw new HumanError(
      say(
        '{0} is the file to import, so it was left as it is. Name the task graph with --file, such as --file .ralph/tasks.jsonl.',
        graph,
      ),
    );
  }
  const before = exists ? await readPlainFile(graph, MAX_STORY_FILE_BYTES) : undefined;
  const known = before === undefined ? '' : decoded(graph, before);
  if (known.trim() !== '') {
    requireGraph(graph, known);
  }
  let made = importTasks({ path: source, text: text ?? '' }, namesIn(graph, known), now);
  requireGraph(graph, known + made.lines);
  requireReadableSize(
    graph,
    Buffer.byteLength(known) + Buffer.byteLength(made.lines) + 1,
    say(
      'Take finished tasks out of it first with "ralph-fresh tasks compact", or import into another file with --file.',
    ),
  );
  if (dryRun) {
    return made;
  }
  await createFolder(path.dirname(graph));
  requireNoLink(graph);
  await writeFile(graph, '', { flag: 'a' });
  await editFile(graph, before => {
    const content = before.toString();
    requireGraph(graph, content.trim() === '' ? made.lines : content);
    made = importTasks({ path: source, text: text ?? '' }, namesIn(graph, content), now);
    return Buffer.from(
      content === '' || content.endsWith('\n') ? content + made.lines : `${content}\n${made.lines}`,
    );
  });
  await noteContext(files, graph, now, 0);
  return made;
}

/**
 * Moves the older finished tasks of a graph to the archive. No agent may be at work.
 *
 * @returns `undefined` if nothing can be moved
 * @throws {HumanError} if the file cannot be read, or has changed meanwhile; then it stays as it is
 */
export async function compactGraph(
  files: RunFiles,
  graph: string,
  { dryRun, keep, now }: { readonly dryRun: boolean; readonly keep: number; readonly now: Date },
): Promise<(TaskCompaction & { readonly archive?: string }) | undefined> {
  requireInside(graph);
  requireArchive(files);
  const before = await readPlainFile(graph, MAX_STORY_FILE_BYTES);
  if (before === undefined) {
    throw new HumanError(
      say(
        'There is no task graph at {0}. Make one of a prd.json with "ralph-fresh tasks import", or of another list with "ralph-fresh convert FILE --to tasks".',
        graph,
      ),
    );
  }
  const text = decoded(graph, before);
  requireGraph(graph, text);
  const planned = compactTasks(text, { archive: '', keep, now });
  if (planned === undefined || dryRun) {
    return planned;
  }
  const logFile = path.join(path.dirname(graph), 'compaction.log');
  requireInside(logFile);
  requireAppendable(logFile);
  const removed = new Map([[graph, Buffer.from(planned.removed)]]);
  const { archive, made } = await withArchive(files, now, 'tasks', removed, async dir => {
    const archive = relative(files, path.join(dir, path.basename(graph)));
    const made = compactTasks(text, { archive, keep, now }) ?? planned;
    await replaceUnchanged(graph, {
      before,
      after: Buffer.from(made.text),
      changed: say(
        '{0} was changed by another program meanwhile, so it was left as it is. Try again.',
        graph,
      ),
    });
    return { archive, made };
  });
  await log(logFile, made, archive, now);
  await noteContext(files, graph, now, 1);
  return { ...made, archive };
}

/** One line for people, as the first design has it. */
async function log(
  file: string,
  { tasks }: TaskCompaction,
  archive: string,
  now: Date,
): Promise<void> {
  const named = tasks
    .map(({ id, title }) => `${shorten(id, 80)} ${shorten(title, 120)}`)
    .join('; ');
  await appendPlainFile(
    file,
    `${now.toISOString()} Compacted ${finishedTasks(tasks.length)} (${archive}): ${named}\n`,
  );
}

/** `context.json` next to the graph: what happened to it so far. Keys of others stay. */
async function noteContext(
  files: RunFiles,
  graph: string,
  now: Date,
  compactions: number,
): Promise<void> {
  const file = path.join(path.dirname(graph), 'context.json');
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    await writeFile(file, '', { flag: 'a' });
  }
  if ((await readPlainFile(file, MAX_CONTEXT_BYTES)) === undefined) {
    return;
  }
  const states = await new RunHistory(files).read();
  await editFile(file, bytes => {
    const before = bytes.length === 0 ? {} : objectIn(bytes.toString());
    if (before === undefined) {
      // Somebody's own file, which says something else.
      return bytes;
    }
    const level = before['compactionLevel'];
    const context = {
      project: path.basename(files.workspace),
      initialized: now.toISOString(),
      ...before,
      lastIteration: states.at(-1)?.iteration ?? 0,
      totalIterations: states.reduce((sum, { iteration }) => sum + iteration, 0),
      compactionLevel: (typeof level === 'number' ? level : 0) + compactions,
    };
    return Buffer.from(`${JSON.stringify(context, null, 2)}\n`);
  });
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined;
  } catch {
    return undefined;
  }
}

/** @throws {HumanError} if a file with this text is read as something else, such as the issues of another tool */
function requireGraph(graph: string, text: string): void {
  if (formatOf(graph, text.replace(/^\uFEFF/, '')).name !== 'tasks') {
    throw new HumanError(
      say(
        '{0} is not a task graph, so it was left as it is. Name another file with --file, such as .ralph/tasks.jsonl.',
        graph,
      ),
    );
  }
}

function namesIn(graph: string, text: string): GraphNames {
  const read = readTaskGraph(text.replace(/^\uFEFF/, ''));
  if (!('tasks' in read)) {
    throw new HumanError(say('{0}: {1}', graph, say('Line {0}: {1}', read.line, read.message)));
  }
  const ids = [...read.compacted, ...read.tasks.flatMap(({ entry }) => ownId(entry) ?? [])];
  return { ids: new Set(ids), needs: read.tasks.flatMap(({ entry }) => readDependencies(entry)) };
}

async function textOf(source: string): Promise<string | undefined> {
  const handle = await openPlainFile(source);
  if (handle === undefined) {
    throw new HumanError(
      lstatSync(source, { throwIfNoEntry: false })?.isDirectory()
        ? say('{0} is a folder. Name the prd.json to import.', source)
        : say('There is no file at {0}: name the prd.json to import.', source),
    );
  }
  await handle.close();
  return decoded(source, await readFile(source));
}

function decoded(file: string, content: Buffer): string {
  const { bom, problem, text } = decodeText(content);
  if (problem !== undefined) {
    throw new HumanError(say('{0}: {1}', file, problem.message));
  }
  return bom + text;
}
