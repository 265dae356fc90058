import type { ProjectFiles } from './projectFiles.ts';

/** A check that a project seems to have. */
export interface VerifyProposal {
  /** A shell line, made of our own words and of names from fixed lists only. */
  readonly command: string;
  /** The file that it was found in, relative to the workspace. */
  readonly source: string;
}

/** Looks for the checks that one kind of build file tells of. */
export type Finder = (files: ProjectFiles) => Promise<VerifyProposal[]>;

/** Commands that one file tells of. */
export const proposals = (source: string, commands: readonly string[]): VerifyProposal[] =>
  commands.map(command => ({ command, source }));

/** Targets, recipes and scripts that check something and end by themselves. */
export const CHECKS = ['test', 'lint', 'typecheck', 'types', 'check', 'build'] as const;
