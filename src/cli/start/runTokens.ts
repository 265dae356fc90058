import { existsSync } from 'node:fs';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { areIssues, hasIssues } from '../../orchestrator/trackers/github/issueStories.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { TOKEN_NAMES, WINDOW_TOKEN } from '../../orchestrator/workspace/startSecrets.ts';
import { tell } from '../print.ts';

/** Whether agents of this run get no token of GitHub. A person is told if that is only a precaution. */
export async function getsNoTokens(
  { workspace }: RunFiles,
  storyFile: string | undefined,
  {
    earlier,
    isPlanned,
    isQuiet,
  }: {
    readonly earlier: RunState | undefined;
    readonly isPlanned: boolean;
    readonly isQuiet: boolean;
  },
): Promise<boolean> {
  if (earlier?.withoutTokens) {
    // One of its agents may have changed what the list says.
    return true;
  }
  const onIssues = await worksOnIssues(workspace, storyFile, isPlanned);
  if (onIssues === undefined && !isQuiet && hasTokens()) {
    tell(
      'Agents of this run get no token of GitHub, because the story file is gone or cannot be read, so nobody knows whether it is a copy of issues.',
    );
  }
  return onIssues !== false;
}

/**
 * Whether the stories of a run are issues, so that its agents must not have a token of GitHub.
 * @param isPlanned whether the stories are only made now, so that there may be no file yet
 * @returns `undefined` if nobody knows
 */
async function worksOnIssues(
  workspace: string,
  storyFile: string | undefined,
  isPlanned: boolean,
): Promise<boolean | undefined> {
  if (storyFile === undefined) {
    return false;
  }
  // A continued run brings back a list that is gone, and nobody knows yet what it says.
  const own = isPlanned && !existsSync(storyFile) ? false : await areIssues(workspace, storyFile);
  // A planning agent reads the issues of the folder, whatever file it plans for.
  return own === false && isPlanned ? hasIssues(workspace) : own;
}

/** Whether this process has a token that an agent of a usual run would get. */
function hasTokens(): boolean {
  return TOKEN_NAMES.some(name => name !== WINDOW_TOKEN && (process.env[name] ?? '') !== '');
}
