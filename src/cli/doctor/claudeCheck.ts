import { claudeVersion } from '../../orchestrator/agents/claude/claude.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, wrong } from './findings.ts';

/** Which Claude Code is installed, and whether the chosen agent needs it. */
export async function claudeCheck({
  env,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  const found = await claudeVersion(settings, env);
  const { file } = found;
  const { agent } = settings;
  if ('version' in found) {
    return [
      { ...good('claude', `Claude Code ${found.version}, ${file}`), facts: { agent, ...found } },
    ];
  }
  const fix = file === undefined ? null : 'Install it again, or choose another one.';
  return [
    agent === 'claude'
      ? {
          ...wrong('claude', found.problem, fix),
          facts: found.isAbsent ? { agent, absent: 'true' } : file ? { agent, file } : { agent },
        }
      : {
          ...good('claude', `No usable Claude Code; the agent "${agent}" does not need it.`),
          facts: { agent },
        },
  ];
}
