import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../../src/orchestrator/workspace/runIds.ts';
import { cleanEnv, emptyRepo, gitRepo, tempDir } from './cleanEnv.ts';
import { endRuns, newestJournal } from './journals.ts';
import { fakeAgent, type PrdStory, type Step } from './ralph.ts';

/** A tool call of an agent and its result, as steps of a script. */
export function toolCall(
  name: string,
  input: Readonly<Record<string, string>>,
  content: string,
  isError = false,
): readonly Step[] {
  const id = `toolu_${name}_${content.length}_${isError}`;
  const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
  return [
    {
      event: {
        type: 'assistant',
        message: { content: [{ type: 'tool_use', id, name, input }] },
      },
    },
    { event: { type: 'user', message: { role: 'user', content: [block] } } },
  ];
}

/** What a project contains, and what its agents do, call by call. */
export interface Scene {
  /** Without them, the project has no `prd.json`. */
  readonly stories?: readonly PrdStory[];
  /** Or the calls of each story, which may be made in parallel. */
  readonly calls:
    | readonly (readonly Step[])[]
    | Readonly<Record<string, readonly (readonly Step[])[]>>;
  /** Further files besides the stories, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A project for a window, whose agents follow a script, call by call. */
export interface ScriptedRun extends AsyncDisposable {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** For the window's server. */
  readonly env: Record<string, string>;
  /** For the window. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Lets agents continue that wait for this name. */
  release(name: string): Promise<void>;
  events(): Promise<RunEvent[]>;
  /**
   * Ends its runs and makes the project anew, for the next story in the same window.
   * @param next what it contains from now on; by default what it contained at first
   * @param emptied called while it contains nothing
   */
  startAgain(next?: Scene, emptied?: () => Promise<void>): Promise<void>;
  /** The prompt of an iteration of the newest run. */
  prompt(iteration: number): Promise<string>;
}

/** Creates it in a new folder, with a git repository. */
export async function scriptedRun(
  options: Scene & {
    readonly env?: Readonly<Record<string, string>>;
    readonly settings?: Readonly<Record<string, unknown>>;
  },
): Promise<ScriptedRun> {
  const temp = await tempDir('ralph-fresh-scripted-');
  const [workspace, home, notes] = ['todo', 'home', 'notes'].map(name =>
    path.join(temp.path, name),
  ) as [string, string, string];
  await Promise.all([home, workspace].map(dir => mkdir(dir)));
  const stage = async ({ stories, calls, files }: Scene): Promise<void> => {
    await mkdir(notes);
    await writeFile(path.join(notes, 'script.json'), JSON.stringify(calls));
    const prd = { project: 'todo', description: 'A list of todos', userStories: stories };
    const all = {
      ...(stories && { '.omc/prd.json': `${JSON.stringify(prd, null, 2)}\n` }),
      ...files,
    };
    for (const [name, content] of Object.entries(all)) {
      const file = path.join(workspace, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    await gitRepo(workspace);
  };
  await stage(options);
  return {
    workspace,
    env: cleanEnv({
      home,
      extra: {
        FAKE_AGENT_NOTES: notes,
        ...options.env,
      },
    }),
    settings: { 'ralphFresh.claudePath': fakeAgent('scripted'), ...options.settings },
    release: name => writeFile(path.join(notes, name), ''),
    events: () => newestJournal(workspace),
    startAgain: async (next = options, emptied = async () => {}) => {
      await endRuns(workspace);
      await emptyRepo(workspace);
      await rm(notes, { recursive: true });
      await emptied();
      await stage(next);
    },
    prompt: async iteration => {
      const runs = new RunFiles(workspace);
      const runId = (await newestRunId(runs)) ?? '';
      return readFile(path.join(runs.iterationDir(runId, iteration), 'prompt.md'), 'utf8');
    },
    [Symbol.asyncDispose]: async () => {
      // A test that failed midway must not leave its run behind.
      await endRuns(workspace);
      await temp.remove();
    },
  };
}
