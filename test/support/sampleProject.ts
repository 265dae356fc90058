import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { gitRepo, type TempDir, tempDir } from './cleanEnv.ts';

const sample = path.resolve(import.meta.dirname, '..', '..', 'sample');
/** The story file of the sample. */
export const sampleStories = path.join(sample, '.omc', 'prd.json');

/** A copy of the sample as a repository, with a home next to it. */
export interface SampleProject {
  readonly temp: TempDir;
  readonly home: string;
  readonly workspace: string;
}

/** Creates one in a new folder. */
export async function sampleProject(prefix: string): Promise<SampleProject> {
  const temp = await tempDir(prefix);
  const home = path.join(temp.path, 'home');
  const workspace = path.join(temp.path, 'todo-api');
  await mkdir(home);
  await fillWithSample(workspace);
  return { temp, home, workspace };
}

/** Makes an empty folder a copy of the sample. */
export async function fillWithSample(workspace: string): Promise<void> {
  await cp(sample, workspace, { recursive: true });
  await gitRepo(workspace);
}
