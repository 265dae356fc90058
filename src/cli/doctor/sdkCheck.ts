import { requireHuman } from '../../base/humanError.ts';
import { agentEnv } from '../../orchestrator/agents/agentEnv.ts';
import { homeOf } from '../../orchestrator/agents/claude/claude.ts';
import { findSdk } from '../../orchestrator/agents/sdk/findSdk.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, wrong } from './findings.ts';

/** Which Agent SDK is installed, and whether the chosen agent needs it. */
export async function sdkCheck({
  env,
  files,
  settings,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  const clean = agentEnv(env);
  const { agent, sdkPath } = settings;
  try {
    const file = await findSdk({ sdkPath, cwd: files.workspace, env: clean, home: homeOf(clean) });
    return [{ ...good('sdk', `Claude Agent SDK, ${file}`), facts: { file } }];
  } catch (error) {
    requireHuman(error);
    return [
      agent === 'sdk' || sdkPath !== undefined
        ? wrong('sdk', error.said, null)
        : good('sdk', 'No Claude Agent SDK; only the agent "sdk" needs it.'),
    ];
  }
}
