import type { ProjectFiles } from './projectFiles.ts';

/** A check that a project seems to have. */
export interface VerifyProposal {
  /** A shell command, made only of our own words and of names from fixed lists. */
  readonly command: string;
  /** The file it was found in, relative to the workspace. */
  readonly source: string;
}

/** Finds the checks in one kind of build file. */
export type Finder = (files: ProjectFiles) => Promise<VerifyProposal[]>;

/** Commands found in one file. */
export const proposals = (source: string, commands: readonly string[]): VerifyProposal[] =>
  commands.map(command => ({ command, source }));

/** Targets, recipes and scripts that check something and exit by themselves. */
export const CHECKS = ['test', 'lint', 'typecheck', 'types', 'check', 'build'] as const;
