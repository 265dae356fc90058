import { homedir } from 'node:os';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { findProgram } from '../../process/findProgram.ts';
import { runProgram } from '../../process/runProgram.ts';
import { WINDOW_TOKEN } from '../../workspace/startSecrets.ts';
import { GITHUB_API } from './githubSource.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The address of the API that {@link WINDOW_TOKEN} is for. */
export const WINDOW_API = 'RALPH_FRESH_GITHUB_API';

/** In ms. */
const TIME_LIMIT_MS = 10_000;

/** The token, and where it is from. */
export interface GithubToken {
  readonly token: string;
  /** For people: `GITHUB_TOKEN`, `gh auth token`. */
  readonly from: string;
}

/**
 * The person's token for an API: from the environment, or from the command line of GitHub.
 * @throws {HumanError} if there is none
 */
export async function findGithubToken(env: Environment, baseUrl: string): Promise<GithubToken> {
  const isPublic = isPublicApi(baseUrl);
  // What opens an account on github.com is not sent to another server.
  const names = isPublic
    ? ['GITHUB_TOKEN', 'GH_TOKEN']
    : ['GITHUB_ENTERPRISE_TOKEN', 'GH_ENTERPRISE_TOKEN'];
  const ofWindow = env[WINDOW_API] ?? GITHUB_API;
  const isForWindow =
    URL.canParse(ofWindow) && new URL(ofWindow).origin === new URL(baseUrl).origin;
  for (const name of isForWindow ? [WINDOW_TOKEN, ...names] : names) {
    const token = env[name]?.trim();
    if (token) {
      return { token, from: name === WINDOW_TOKEN ? 'VS Code' : name };
    }
  }
  const token = await tokenOfGh(env, isPublic ? undefined : hostOf(baseUrl));
  if (token !== undefined) {
    return { token, from: 'gh auth token' };
  }
  const host = hostOf(baseUrl);
  throw new HumanError(
    say(
      'There is no token for {0}. Log in with "{1}", or set {2} to a token that may read issues, and write them for comments.',
      ...(isPublic
        ? ['GitHub', 'gh auth login', 'GITHUB_TOKEN']
        : [host, `gh auth login --hostname ${host}`, 'GITHUB_ENTERPRISE_TOKEN']),
    ),
  );
}

/** Whether it is the API of github.com. */
export function isPublicApi(baseUrl: string): boolean {
  return new URL(baseUrl).origin === new URL(GITHUB_API).origin;
}

/** The API of an own server is below its host, or on a host `api.…`. */
export function hostOf(baseUrl: string): string {
  return new URL(baseUrl).hostname.replace(/^api\./, '');
}

async function tokenOfGh(env: Environment, host: string | undefined): Promise<string | undefined> {
  const program = await findProgram('gh', {
    env,
    home: env['HOME'] ?? env['USERPROFILE'] ?? homedir(),
    platform: process.platform,
  });
  if (program === undefined) {
    return undefined;
  }
  const result = await runProgram(
    program,
    ['auth', 'token', ...(host === undefined ? [] : ['--hostname', host])],
    { env, timeLimitMs: TIME_LIMIT_MS },
  );
  const token = result.failed ? '' : result.stdout.trim();
  return token === '' ? undefined : token;
}
