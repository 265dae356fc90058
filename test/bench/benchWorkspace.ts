import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';

/** A repository with a story file for measurements. */
export interface BenchWorkspace extends AsyncDisposable {
  readonly root: string;
  readonly folder: string;
  readonly storyFile: string;
  readonly env: Record<string, string>;
}

export interface BenchStory {
  readonly id: string;
  readonly title: string;
  readonly passes: boolean;
  readonly [key: string]: unknown;
}

/** @param fill adds files to the first commit */
export async function benchWorkspace(
  stories: readonly BenchStory[],
  fill?: (folder: string) => Promise<void>,
): Promise<BenchWorkspace> {
  const { path: root, remove } = await tempDir('ralph-fresh-bench-');
  const folder = path.join(root, 'workspace');
  const storyFile = path.join(folder, '.omc', 'prd.json');
  const notes = path.join(root, 'notes');
  await mkdir(path.dirname(storyFile), { recursive: true });
  await mkdir(notes);
  await writeFile(storyFile, storyFileText(stories));
  await fill?.(folder);
  await gitRepo(folder);
  const env = cleanEnv({ home: path.join(root, 'home'), extra: { FAKE_AGENT_NOTES: notes } });
  return { root, folder, storyFile, env, [Symbol.asyncDispose]: remove };
}

export function storyFileText(stories: readonly BenchStory[]): string {
  return `${JSON.stringify({ project: 'Bench', description: 'Measure it', userStories: stories }, null, 2)}\n`;
}

/** Realistic stories: a sentence or two, a few criteria. */
export function benchStories(count: number, done = 0): BenchStory[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `US-${String(i + 1).padStart(4, '0')}`,
    title: `Show the totals of group ${i + 1} in the overview`,
    description: `As a person who plans the week I want to see the totals of group ${i + 1}, so that I know what is left to do.`,
    acceptanceCriteria: [
      `The overview has a row for group ${i + 1}`,
      'The total is the sum of its entries, also when there are none',
      'The tests and the type check pass',
    ],
    priority: i + 1,
    passes: i < done,
    notes: '',
  }));
}
