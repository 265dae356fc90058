import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent, AgentCommand, AgentEvent } from '../../src/orchestrator/agents/agent.ts';
import { type AgentEnd, runAgentProcess } from '../../src/orchestrator/agents/call/agentProcess.ts';
import {
  DEFAULT_LIMITS,
  type ProcessLimits,
} from '../../src/orchestrator/process/processLimits.ts';
import { gitRepo, type TempDir, tempDir } from './cleanEnv.ts';

/** A project that real agents work on, with a separate home next to it. */
export interface TodoProject {
  readonly temp: TempDir;
  readonly home: string;
  /** A repository with `.omc/prd.json`. */
  readonly folder: string;
}

/** Creates one whose stories are all open. */
export async function todoProject(
  prefix: string,
  stories: readonly { readonly id: string; readonly title: string }[],
): Promise<TodoProject> {
  const temp = await tempDir(prefix);
  const home = path.join(temp.path, 'home');
  const folder = path.join(temp.path, 'todo');
  await mkdir(home);
  await mkdir(path.join(folder, '.omc'), { recursive: true });
  const userStories = stories.map(story => ({ ...story, passes: false }));
  await writeFile(
    path.join(folder, '.omc', 'prd.json'),
    `${JSON.stringify({ project: 'todo', userStories }, null, 4)}\n`,
  );
  await gitRepo(folder);
  return { temp, home, folder };
}

/** One call like those of the loop. `onEvent` may end it early. */
export async function recordedCall(
  { folder, temp }: Omit<TodoProject, 'home'>,
  agent: Agent,
  command: AgentCommand,
  limits: Partial<ProcessLimits> = {},
  onEvent: (event: AgentEvent, stop: () => void) => void = () => undefined,
): Promise<AgentEnd & { readonly events: readonly AgentEvent[] }> {
  const stop = new AbortController();
  const events: AgentEvent[] = [];
  const end = await runAgentProcess(agent, command, {
    cwd: folder,
    runId: `test-${process.pid}`,
    limits: { ...DEFAULT_LIMITS, ...limits },
    signal: stop.signal,
    killSignal: new AbortController().signal,
    rawFile: path.join(temp.path, 'stream.jsonl'),
    record: {
      started: () => undefined,
      take: event => {
        events.push(event);
        onEvent(event, () => stop.abort());
      },
    },
  });
  return { ...end, events };
}
