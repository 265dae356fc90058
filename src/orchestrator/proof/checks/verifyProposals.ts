import { readdir } from 'node:fs/promises';
import { fromCargo, fromDotnet, fromGo, fromMix } from './finders/compiled.ts';
import type { Finder, VerifyProposal } from './finders/finder.ts';
import { fromGradle, fromMaven } from './finders/jvm.ts';
import { fromComposer, fromDeno, fromPackageJson } from './finders/packageScripts.ts';
import { ProjectFiles } from './finders/projectFiles.ts';
import { fromPython } from './finders/python.ts';
import { fromRuby } from './finders/ruby.ts';
import { fromJustfile, fromMakefile, fromTaskfile } from './finders/taskRunners.ts';

const FINDERS: readonly Finder[] = [
  fromPackageJson,
  fromDeno,
  fromMakefile,
  fromJustfile,
  fromTaskfile,
  fromCargo,
  fromGo,
  fromPython,
  fromRuby,
  fromMaven,
  fromGradle,
  fromComposer,
  fromMix,
  fromDotnet,
];

/**
 * Finds the checks of a project in the build files of the workspace's top folder. Starts no program; a file that
 * cannot be read or parsed contributes nothing.
 *
 * @param workspace absolute path of the folder
 * @returns the most informative ones of each build file first, without duplicates
 */
export async function proposeVerifyCommands(
  workspace: string,
  platform: NodeJS.Platform = process.platform,
): Promise<VerifyProposal[]> {
  // A missing workspace has no checks; the run itself reports the problem.
  const names = await readdir(workspace).catch(() => []);
  const files = new ProjectFiles(workspace, names, platform);
  const found = await Promise.all(FINDERS.map(find => find(files)));
  const byCommand = new Map<string, VerifyProposal>();
  for (const proposal of found.flat()) {
    if (!byCommand.has(proposal.command)) {
      byCommand.set(proposal.command, proposal);
    }
  }
  return [...byCommand.values()];
}
