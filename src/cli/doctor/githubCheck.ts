import packageJson from '../../../package.json' with { type: 'json' };
import { say } from '../../base/say.ts';
import { readGrant } from '../../orchestrator/trackers/github/githubGrants.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, wrongBy } from './findings.ts';

/** Whether the named repository can be read with the person's token. Asks only if one is named. */
export async function githubCheck({
  env,
  files,
  flags,
  github,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  if (github === undefined) {
    return [];
  }
  const known = flags.githubUrl === undefined ? await readGrant(env, files.workspace) : undefined;
  const baseUrl =
    known?.source.repository.toLowerCase() === github.toLowerCase()
      ? known.baseUrl
      : settings.githubUrl;
  const [{ findGithubToken }, { GithubApi }] = await Promise.all([
    import('../../orchestrator/trackers/github/githubToken.ts'),
    import('../../orchestrator/trackers/github/githubApi.ts'),
  ]);
  try {
    const { from, token } = await findGithubToken(env, baseUrl);
    const api = await GithubApi.open({
      ...{ baseUrl, token, tokenFrom: from, version: packageJson.version },
    });
    await api.get(`/repos/${github}/issues?state=all&per_page=1`);
    return [
      good('github', say('The issues of {0} can be read with the token of {1}.', github, from)),
    ];
  } catch (error) {
    return [wrongBy('github', error)];
  }
}
