import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { openGit } from '../../orchestrator/git/openGit.ts';
import { HumanError } from '../../orchestrator/humanError.ts';
import { requirePlainState } from '../../orchestrator/run/plainFile.ts';
import type { RunFiles } from '../../orchestrator/run/runFiles.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { good, some, warn, wrong } from './findings.ts';
import type { Patient } from './patient.ts';

/** Whether the state can be written, and git does not see it. */
export async function stateCheck({ files }: Patient): Promise<readonly Finding[]> {
  try {
    requirePlainState(files);
    await access(existsSync(files.stateDir) ? files.stateDir : files.workspace, constants.W_OK);
  } catch (error) {
    return [
      error instanceof HumanError
        ? wrong('state', error.message, null)
        : wrong('state', `${files.stateDir} cannot be written.`, 'Give yourself the permission.'),
    ];
  }
  const tracked = await trackedState(files);
  return [
    tracked.length === 0
      ? good('state', `The state goes to ${files.stateDir}; git does not see it.`)
      : warn(
          'state',
          `git tracks files of the state: ${some(tracked, ', ')}.`,
          'Take them out: git rm -r --cached .omc/state, then commit.',
        ),
  ];
}

/** Outside a repository nothing is tracked; that git is wrong is told by its own check. */
async function trackedState(files: RunFiles): Promise<string[]> {
  const output = await openGit(files.workspace)
    .raw('--no-optional-locks', 'ls-files', '-z', '--', '.omc/state')
    .catch(() => '');
  return output.split('\0').filter(file => file !== '');
}
