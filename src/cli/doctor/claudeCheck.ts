import { type ClaudeVersion, claudeVersion } from '../../orchestrator/agents/claude/claude.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, warn, wrong } from './findings.ts';

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
  return [
    agent === 'claude'
      ? {
          ...problemOf(found),
          facts: found.isAbsent ? { agent, absent: 'true' } : file ? { agent, file } : { agent },
        }
      : {
          ...good('claude', `No usable Claude Code; the agent "${agent}" does not need it.`),
          facts: { agent },
        },
  ];
}

function problemOf({
  file,
  isStarted,
  problem,
}: Exclude<ClaudeVersion, { readonly version: string }>): Finding {
  // A run asks for no version, so it starts with such a program.
  return isStarted
    ? warn(
        'claude',
        problem,
        'If it is not a wrapper of yours, install Claude Code again, or choose another program.',
      )
    : wrong(
        'claude',
        problem,
        file === undefined ? null : 'Install it again, or choose another one.',
      );
}
