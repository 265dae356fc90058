import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { say } from '../../base/say.ts';
import { runGit } from '../git/runGit.ts';
import { namedFiles } from '../git/treeCommit.ts';
import type { Precondition } from './precondition.ts';

/** Git's own examples do nothing. */
const EXAMPLE = '.sample';

/** Hooks of the repository do not run where agents with places of their own work, nor when work lands. */
export const hooks: Precondition = {
  id: 'hooks',
  needsGit: true,
  async judge({ files: { workspace }, isIsolated }) {
    if (!isIsolated) {
      return undefined;
    }
    const folder = (await runGit(workspace, 'rev-parse', '--git-path', 'hooks')).replace(
      /\r?\n$/,
      '',
    );
    const names = await hooksIn(path.resolve(workspace, folder));
    if (names.length === 0) {
      return { level: 'holds', message: 'There are no git hooks that lanes would leave out.' };
    }
    const scope = await runGit(workspace, 'config', '--show-scope', '--get', 'core.hooksPath');
    const isPersonal = /^(?:global|system)\s/.test(scope);
    return {
      level: 'warns',
      message: isPersonal
        ? say(
            'No git hook runs when work lands. Yours ({0}) run for the commits of the agents only.',
            namedFiles(names),
          )
        : say(
            'The git hooks {0} run neither for the commits of the agents nor when work lands.',
            namedFiles(names),
          ),
      next: say('Make what they check a check of the run: --verify "npm run lint".'),
    };
  },
};

async function hooksIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const canRun = await access(path.join(folder, entry.name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!entry.isDirectory() && !entry.name.endsWith(EXAMPLE) && /^[a-z]/.test(entry.name)) {
      found.push(...(canRun ? [entry.name] : []));
    }
  }
  return found.sort();
}
