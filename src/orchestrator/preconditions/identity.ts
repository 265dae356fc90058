import { say } from '../../base/say.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import { gitResult } from '../git/runGit.ts';
import type { Ground, Precondition } from './precondition.ts';

/**
 * Git has an identity for the agents' commits. Git itself is asked, in the agents' environment, because the name
 * may come from its settings, from variables, or from the system. The demo agent has a name of its own.
 */
export const identity: Precondition = {
  id: 'identity',
  needsGit: true,
  async judge({ env, files, isIsolated, settings }) {
    // Work of lanes lands by commits of the person.
    if (settings.agent === 'demo' && !isIsolated) {
      return { level: 'holds', message: 'The demo agent commits under its own name.' };
    }
    const idents = await Promise.all(
      ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'].map(name => identOf(name, files, env)),
    );
    const [author] = idents;
    return idents.every(ident => ident !== undefined)
      ? { level: 'holds', message: `Agents commit as ${author?.replace(/ \d+ [+-]\d+$/, '')}` }
      : {
          level: 'refuses',
          message: say('git does not know who commits here, so no agent could commit its work.'),
          next: say(
            'Configure it: git config --global user.name "Your Name" and git config --global user.email "you@example.com".',
          ),
        };
  },
};

/** @returns `undefined` if git would refuse to commit */
async function identOf(
  name: string,
  { workspace }: Ground['files'],
  env: Ground['env'],
): Promise<string | undefined> {
  const { code, stdout } = await gitResult(workspace, ['var', name], { env: agentEnv(env) });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}
