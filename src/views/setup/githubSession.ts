import path from 'node:path';
import { authentication } from 'vscode';
import { MIRROR_FILE } from '../../orchestrator/trackers/github/githubMirror.ts';
import { WINDOW_TOKEN } from '../../orchestrator/trackers/github/githubToken.ts';

/** What a token needs to read issues, also of private repositories, and to comment. */
const SCOPES = ['repo'];

/** The person's token in the GitHub session of VS Code, which asks the person first. */
export async function githubToken(): Promise<string> {
  const { accessToken } = await authentication.getSession('github', SCOPES, { createIfNone: true });
  return accessToken;
}

/**
 * The environment for a run: with the token, if its stories are issues on GitHub and the person has let this extension
 * use the session before. Without it, the run looks for another token by itself.
 */
export async function runEnvironment(
  folder: string,
  storyFile: string,
): Promise<NodeJS.ProcessEnv> {
  if (storyFile !== path.join(folder, MIRROR_FILE)) {
    return process.env;
  }
  const session = await authentication.getSession('github', SCOPES, { silent: true });
  return session === undefined
    ? process.env
    : { ...process.env, [WINDOW_TOKEN]: session.accessToken };
}
