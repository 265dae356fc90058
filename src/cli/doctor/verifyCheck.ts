import { proposeVerifyCommands } from '../../orchestrator/proof/checks/verifyProposals.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, some, warn } from './findings.ts';

/** Which commands verify that a story is done; without any, those that the project seems to have. */
export async function verifyCheck({
  files,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  if (settings.verify.length > 0) {
    return [
      good(
        'verify',
        `Checks that must pass before a story is done: ${some(settings.verify, ', ')}`,
      ),
    ];
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
