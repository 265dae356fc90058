import { proposeVerifyCommands } from '../../orchestrator/proof/checks/verifyProposals.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { some, warn } from './findings.ts';

/** That nothing verifies that a story is done, and what could. Of set checks, the preconditions of a run speak. */
export async function verifyCheck({
  files,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  if (settings.verify.length > 0) {
    return [];
  }
  const commands = (await proposeVerifyCommands(files.workspace)).map(({ command }) => command);
  return [
    commands.length === 0
      ? warn(
          'verify',
          'No checks are set, and none were found in this project.',
          "Set yours with --verify; otherwise the agents' claims are trusted.",
        )
      : warn(
          'verify',
          "No checks are set, so the agents' claims are trusted.",
          `This project seems to have: ${some(commands, ', ')} (--verify).`,
        ),
  ];
}
