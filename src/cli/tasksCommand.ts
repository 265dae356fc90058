import path from 'node:path';
import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { exclusively } from '../orchestrator/loop/exclusiveWork.ts';
import { compactGraph, importIntoGraph, TASK_GRAPH } from '../orchestrator/loop/taskGraphFile.ts';
import { findStoryFile } from '../orchestrator/stories/knownSources.ts';
import type { StoryProblem } from '../orchestrator/stories/story.ts';
import { problemOfFile, problemWords } from '../orchestrator/stories/storyFile.ts';
import { isSameFile } from '../orchestrator/stories/targetFile.ts';
import { finishedTasks, KEPT_TASKS } from '../orchestrator/stories/taskCompaction.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { count, cwdOption, type Flags } from './arguments.ts';
import { forPeople } from './people.ts';
import { print, printJson, tell, tellWarning } from './print.ts';

/** Maximum number of problems that an import names. */
const MAX_PROBLEMS = 5;

interface TaskFlags extends Flags {
  readonly dryRun?: true;
  readonly keep?: number;
}

/** `ralph-fresh tasks import`, `tasks compact`: our own task graph. */
export function addTasksCommand(program: Command): void {
  const tasks = forPeople(program.command('tasks')).description(
    `the task graph, ${TASK_GRAPH.replaceAll('\\', '/')}`,
  );
  tasks
    .command('import')
    .description('append the stories of a prd.json to the task graph; every key is kept')
    .argument('[file]', 'the prd.json; default: the one that a run would find')
    .addOption(cwdOption())
    .option('--file <path>', 'the task graph; default: .ralph/tasks.jsonl')
    .option('--dry-run', 'only show the lines')
    .option('--json', 'as data: file, source, imported, done, text (docs/json-output.md)')
    .action(importTasks);
  tasks
    .command('compact')
    .description('move older finished tasks to the archive; what waits for them stays ready')
    .addOption(cwdOption())
    .option('--file <path>', 'the task graph; default: .ralph/tasks.jsonl')
    .option(
      '--keep <n>',
      `how many of the newest finished tasks stay, at least 1; default: ${KEPT_TASKS}`,
      count,
    )
    .option('--dry-run', 'only show which')
    .option('--json', 'as data: file, compacted, archive (docs/json-output.md)')
    .action(compact);
}

async function importTasks(named: string | undefined, flags: TaskFlags): Promise<void> {
  const { dryRun = false, json } = flags;
  const files = new RunFiles(flags.cwd);
  const graph = graphOf(files, flags);
  const source =
    named === undefined
      ? await findStoryFile(files.workspace)
      : path.resolve(files.workspace, named);
  if (source === undefined) {
    throw new HumanError(
      say('No prd.json was found in {0}. Name it: ralph-fresh tasks import FILE', files.workspace),
    );
  }
  const now = new Date();
  const work = () => importIntoGraph(files, graph, source, { dryRun, now });
  const { done, ids, lines, problems } = dryRun ? await work() : await exclusively(files, work);
  tellProblems(source, problems);
  if (json) {
    printJson({ file: graph, source, imported: ids, done, text: dryRun ? lines : null });
    return;
  }
  print(
    dryRun
      ? lines.trimEnd()
      : `Imported ${tasksOf(ids.length)} (done: ${done}) into ${graph}. ${source} stays as it is.${await whatIsUsed(files.workspace, graph)}`,
  );
}

function tasksOf(found: number): string {
  return found === 1 ? '1 task' : `${found} tasks`;
}

/** What the graph does not say any more: afterwards, only the old file shows it. */
function tellProblems(source: string, problems: readonly StoryProblem[]): void {
  for (const problem of problems.slice(0, MAX_PROBLEMS)) {
    tellWarning(problemOfFile(source, problemWords(problem)));
  }
  const more = problems.length - MAX_PROBLEMS;
  if (more > 0) {
    tell(`And ${more} more: ralph-fresh stories --file ${shellWord(source)}`);
  }
}

/** That a run does not find the graph by itself; empty if it does. */
async function whatIsUsed(workspace: string, graph: string): Promise<string> {
  const used = await findStoryFile(workspace);
  if (used !== undefined && (await isSameFile(used, graph))) {
    return '';
  }
  const named = `--file ${shellWord(path.relative(workspace, graph))}`;
  return used === undefined
    ? ` A run finds the graph with ${named}`
    : ` While ${path.relative(workspace, used)} is there, a run takes that: name the graph with ${named}`;
}

async function compact(flags: TaskFlags): Promise<void> {
  const { dryRun = false, json, keep = KEPT_TASKS } = flags;
  const files = new RunFiles(flags.cwd);
  const graph = graphOf(files, flags);
  const now = new Date();
  const work = () => compactGraph(files, graph, { dryRun, keep, now });
  const made = dryRun ? await work() : await exclusively(files, work);
  if (json) {
    printJson({
      file: graph,
      compacted: made?.tasks.map(({ id }) => id) ?? [],
      archive: made?.archive ?? null,
    });
  } else if (made === undefined) {
    print(`Nothing to compact in ${graph}: its newest finished tasks (up to ${keep}) always stay.`);
  } else {
    const list = made.tasks
      .map(({ id, title }) => `  ${shorten(id, 80)}  ${shorten(title, 120)}`)
      .join('\n');
    const finished = finishedTasks(made.tasks.length);
    print(
      dryRun
        ? `Would move ${finished} from ${graph} to the archive:\n${list}`
        : `Moved ${finished} from ${graph} to ${made.archive}:\n${list}`,
    );
  }
}

function graphOf(files: RunFiles, { file = TASK_GRAPH }: TaskFlags): string {
  return path.resolve(files.workspace, file);
}
