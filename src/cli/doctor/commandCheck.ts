import { agentEnv } from '../../orchestrator/agents/agentEnv.ts';
import { homeOf } from '../../orchestrator/agents/claude/claude.ts';
import { commandPreset } from '../../orchestrator/agents/command/commandPresets.ts';
import { findProgram } from '../../orchestrator/process/findProgram.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, wrong, wrongBy } from './findings.ts';

/** Checks the program of the agent "command", if that agent is chosen. */
export async function commandCheck({
  env,
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
  const clean = agentEnv(env);
  try {
    const file = await findProgram(name, {
      setting: name,
      settingName: 'command (--command)',
      env: clean,
      home: homeOf(clean),
      platform: process.platform,
    });
    return [good('command', `The agent is ${file}`)];
  } catch (error) {
    return [wrongBy('command', error)];
  }
}
