import { existsSync } from 'node:fs';
import { areIssues } from '../orchestrator/trackers/github/issueStories.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { TOKEN_NAMES, WINDOW_TOKEN } from '../orchestrator/workspace/startSecrets.ts';

/**
 * Takes the tokens of GitHub out of the environment of this process, so that agents, checks and everything else that it
 * starts get none: all of them if the stories are issues, otherwise only that of the window.
 * @param isPlanned whether the stories are only made now, so that there may be no file yet
 * @returns their environment
 */
export async function agentEnvironment(
  { workspace }: RunFiles,
  storyFile: string | undefined,
  isPlanned: boolean,
): Promise<NodeJS.ProcessEnv> {
  const names = (await mayBeIssues(workspace, storyFile, isPlanned)) ? TOKEN_NAMES : [WINDOW_TOKEN];
  for (const name of names) {
    delete process.env[name];
  }
  return process.env;
}

async function mayBeIssues(
  workspace: string,
  storyFile: string | undefined,
  isPlanned: boolean,
): Promise<boolean> {
  if (storyFile === undefined) {
    return false;
  }
  // A continued run brings back a list that is gone, and nobody knows yet what it says.
  return (!isPlanned && !existsSync(storyFile)) || areIssues(workspace, storyFile);
}
