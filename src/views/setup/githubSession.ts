import { authentication, workspace } from 'vscode';
import { resolveSettings } from '../../orchestrator/settings/settings.ts';
import { readGrant } from '../../orchestrator/trackers/github/githubGrants.ts';
import { hostOf, isPublicApi, WINDOW_API } from '../../orchestrator/trackers/github/githubToken.ts';
import { isMirror } from '../../orchestrator/trackers/github/issueStories.ts';
import { WINDOW_TOKEN } from '../../orchestrator/workspace/startSecrets.ts';

/** What a token needs to read issues, also of private repositories, and to comment. */
const SCOPES = ['repo'];

/** The environment of a command that asks GitHub, with the token of VS Code's session; VS Code asks the person first. */
export async function githubEnvironment(folder: string): Promise<NodeJS.ProcessEnv> {
  const { env } = process;
  const { githubUrl } = await resolveSettings({ workspace: folder });
  const provider = providerOf(githubUrl);
  if (provider === undefined) {
    // The command says which token it looks for.
    return env;
  }
  const session = await authentication.getSession(provider, SCOPES, { createIfNone: true });
  return { ...env, [WINDOW_API]: githubUrl, [WINDOW_TOKEN]: session.accessToken };
}

/**
 * The environment for a run: with the token, if its stories are issues on GitHub that the person has asked for in this
 * folder, and the person has let this extension use the session before. Without it, the run looks for another token by
 * itself.
 */
export async function runEnvironment(
  folder: string,
  storyFile: string,
): Promise<NodeJS.ProcessEnv> {
  if (!isMirror(folder, storyFile)) {
    return process.env;
  }
  // A copy that came with the repository is no reason to pass a token on.
  const grant = await readGrant(process.env, folder);
  const provider = grant && providerOf(grant.baseUrl);
  if (grant === undefined || provider === undefined) {
    return process.env;
  }
  const session = await authentication.getSession(provider, SCOPES, { silent: true });
  return session === undefined
    ? process.env
    : { ...process.env, [WINDOW_API]: grant.baseUrl, [WINDOW_TOKEN]: session.accessToken };
}

/** VS Code's account for the server of an API; `undefined` if it has none. */
function providerOf(baseUrl: string): string | undefined {
  if (isPublicApi(baseUrl)) {
    return 'github';
  }
  const uri = workspace.getConfiguration('github-enterprise').get<string>('uri') ?? '';
  return URL.canParse(uri) && new URL(uri).hostname === hostOf(baseUrl)
    ? 'github-enterprise'
    : undefined;
}
