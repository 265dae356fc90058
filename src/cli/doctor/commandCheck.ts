import { agentEnv } from '../../orchestrator/agents/agentEnv.ts';
import { findCommand } from '../../orchestrator/agents/command/command.ts';
import { commandPreset } from '../../orchestrator/agents/command/commandPresets.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, wrong, wrongBy } from './findings.ts';

/** Checks the program of the agent "command", if that agent is chosen. */
export async function commandCheck({
  env,
  files,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  if (settings.agent !== 'command') {
    return [];
  }
  const { command: named, preset, skipPermissions } = settings;
  const name = named ?? (preset && commandPreset(preset, { skipPermissions }).command);
  if (name === undefined) {
    return [
      wrong(
        'command',
        'The agent "command" has no program.',
        'Name one with --command or --preset.',
      ),
    ];
  }
  try {
    const file = await findCommand(name, files.workspace, agentEnv(env));
    return [good('command', `The agent is ${file}`)];
  } catch (error) {
    return [wrongBy('command', error)];
  }
}
