import { asHumanError } from '../git/gitErrors.ts';
import { runGit } from '../git/runGit.ts';

/** A ref of the repository. */
export interface Ref {
  /** Full name. */
  readonly name: string;
  /** Full hash. */
  readonly commit: string;
}

/**
 * The refs below some prefixes, or with exactly these names; by name.
 * @param dir absolute path of the workspace
 * @throws {HumanError} if the repository cannot be read
 */
export async function readRefs(dir: string, ...prefixes: readonly string[]): Promise<Ref[]> {
  try {
    const output = await runGit(
      dir,
      ...['--no-optional-locks', 'for-each-ref', '--format=%(refname) %(objectname)', ...prefixes],
    );
    return output.split(/\r?\n/).flatMap(line => {
      const [name, commit] = line.split(' ');
      return name === undefined || commit === undefined ? [] : [{ name, commit }];
    });
  } catch (error) {
    throw asHumanError(error);
  }
}
