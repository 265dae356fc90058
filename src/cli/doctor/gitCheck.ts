import { GitRepository } from '../../orchestrator/git/git.ts';
import { openGit } from '../../orchestrator/git/openGit.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { good, warn, wrong, wrongBy } from './findings.ts';
import type { Patient } from './patient.ts';

/** Whether the workspace is in a repository with a commit. */
export async function gitCheck({ files }: Patient): Promise<readonly Finding[]> {
  const repository = new GitRepository(files.workspace);
  try {
    const root = await repository.root();
    if (root === undefined) {
      return [
        wrong(
          'git',
          `${files.workspace} is not in a git repository.`,
          'Run "git init" there and commit once.',
        ),
      ];
    }
    const version = (await openGit(files.workspace).raw('version')).replace('git version', '');
    const head = await repository.head();
    return [
      head === undefined
        ? warn(
            'git',
            'The repository has no commit yet.',
            'Commit once, so that there is a state to go back to.',
          )
        : good('git', `git ${version.trim()}, repository ${root}`),
    ];
  } catch (error) {
    return [wrongBy('git', error)];
  }
}
