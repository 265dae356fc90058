import { Octokit } from '@octokit/core';

/**
 * The library for GitHub's API. In the program it is a file of its own, which is loaded by the first call: only runs
 * with issues on GitHub need it.
 */
export function newOctokit(options: ConstructorParameters<typeof Octokit>[0]): Octokit {
  return new Octokit(options);
}
