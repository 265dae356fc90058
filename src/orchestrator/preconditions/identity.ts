import { say } from '../../base/say.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import { gitResult } from '../git/runGit.ts';
import type { Ground, Precondition } from './precondition.ts';

/**
 * Somebody as whom the agents can commit. git itself is asked, in the environment that the agents get: it takes a name
 * from its settings, from variables, or from the system. The demo agent brings a name of its own.
 */
export const identity: Precondition = {
  id: 'identity',
  needsGit: true,
  async judge({ env, files, settings }) {
    if (settings.agent === 'demo') {
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
            'Tell it: git config --global user.name "Your Name" and git config --global user.email "you@example.com".',
          ),
        };
  },
};

/** @returns `undefined` where git would refuse a commit */
async function identOf(
  name: string,
  { workspace }: Ground['files'],
  env: Ground['env'],
): Promise<string | undefined> {
  const { code, stdout } = await gitResult(workspace, ['var', name], { env: agentEnv(env) });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}
