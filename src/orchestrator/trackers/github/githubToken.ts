import { homedir } from 'node:os';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { findProgram } from '../../process/findProgram.ts';
import { GITHUB_API } from './githubSource.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The window passes the token of its session on in this one. */
export const WINDOW_TOKEN = 'RALPH_FRESH_GITHUB_TOKEN';

/** Everything in which a token of GitHub is usually passed on. Agents and checks get none of them. */
export const TOKEN_NAMES: readonly string[] = [
  WINDOW_TOKEN,
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'GITHUB_ENTERPRISE_TOKEN',
  'GH_ENTERPRISE_TOKEN',
];

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
  const isPublic = new URL(baseUrl).origin === new URL(GITHUB_API).origin;
  // The person has named the other server; its own token comes first.
  const names = isPublic
    ? [WINDOW_TOKEN, 'GITHUB_TOKEN', 'GH_TOKEN']
    : [WINDOW_TOKEN, 'GITHUB_ENTERPRISE_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_TOKEN', 'GH_TOKEN'];
  for (const name of names) {
    const token = env[name]?.trim();
    if (token) {
      return { token, from: name === WINDOW_TOKEN ? 'VS Code' : name };
    }
  }
  const token = await tokenOfGh(env, isPublic ? undefined : hostOf(baseUrl));
  if (token !== undefined) {
    return { token, from: 'gh auth token' };
  }
  throw new HumanError(
    say(
      'There is no token for GitHub. Log in with “gh auth login”, or set GITHUB_TOKEN to a token that may read issues, and write them for comments.',
    ),
  );
}

/** The API of an own server is below its host, or on a host `api.…`. */
function hostOf(baseUrl: string): string {
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
  const { execa } = await import('execa');
  const result = await execa(
    program,
    ['auth', 'token', ...(host === undefined ? [] : ['--hostname', host])],
    {
      env: { ...env },
      extendEnv: false,
      stdin: 'ignore',
      timeout: TIME_LIMIT_MS,
      reject: false,
      windowsHide: true,
    },
  );
  const token = result.failed ? '' : result.stdout.trim();
  return token === '' ? undefined : token;
}
