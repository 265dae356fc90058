import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { say } from '../../base/say.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import type { Ground, Precondition } from './precondition.ts';

const exec = promisify(execFile);

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
  try {
    const { stdout } = await exec('git', ['var', name], {
      cwd: workspace,
      env: agentEnv(env),
      windowsHide: true,
    });
    return stdout.trim();
  } catch (error) {
    // It has answered; what it says is in the person's language.
    if (typeof (error as { code?: unknown }).code === 'number') {
      return undefined;
    }
    throw error;
  }
}
