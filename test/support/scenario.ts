import type { TestContext } from 'node:test';
import { fakeAgent, openStories, type Step, until, Workspace } from './ralph.ts';

/** Runs something in a workspace to its end; the result is the workspace's newest journal. */
export type Scenario = (t: Pick<TestContext, 'after'>) => Promise<Workspace>;

/** A run with the scripted agent, for scenarios that set up their own environment. */
export const RUN: readonly string[] = [
  ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
  ...['--retry-delay', '0.01'],
];

/** A workspace with open stories. */
export const create = (t: Pick<TestContext, 'after'>, stories: number): Promise<Workspace> =>
  Workspace.create(t, { stories: openStories(stories), hasPointers: true });

/** Follows the script to its end. */
export function scripted(
  stories: number,
  calls: readonly (readonly Step[])[],
  ...args: readonly string[]
): Scenario {
  return async t => {
    const workspace = await create(t, stories);
    await workspace.script(calls, ...args).finished;
    return workspace;
  };
}

/** Waits until an agent has printed this text. */
export const heard = (workspace: Workspace, words: string): Promise<unknown> =>
  until(words, async () =>
    (await workspace.events('agent.text')).some(({ text }) => text === words),
  );
