import { HumanError } from '../../base/humanError.ts';
import { agentEnv } from '../../orchestrator/agents/agentEnv.ts';
import { findClaude } from '../../orchestrator/agents/claude/claude.ts';
import type { Settings } from '../../orchestrator/settings/settingTable.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import type { ConfiguredWorkspace, DiagnosedWorkspace } from './diagnosedWorkspace.ts';
import { good, warn } from './findings.ts';

const API_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const;
const PROVIDERS = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
] as const;

/** Which account pays for the agents' work, as far as that is known. */
export async function payerCheck(workspace: ConfiguredWorkspace): Promise<readonly Finding[]> {
  return [await withoutClaude(workspace, payer(workspace.env, workspace.settings))];
}

/** @param env its values are never shown, only the names of variables that are set */
function payer(
  env: DiagnosedWorkspace['env'],
  { agent, apiKey, budgetUsd, iterationBudgetUsd }: Settings,
): Finding {
  if (agent === 'demo') {
    return {
      ...good('payer', 'Nobody pays: the demo agent costs nothing.'),
      facts: { payer: 'none' },
    };
  }
  if (agent === 'command') {
    return budgetUsd === undefined && iterationBudgetUsd === undefined
      ? good('payer', 'The agent "command" determines who pays for it.')
      : warn(
          'payer',
          'The agent "command" does not report its cost, so a budget in dollars cannot be enforced.',
          'Limit the run with --max-iterations and --time-limit instead.',
        );
  }
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const provider = PROVIDERS.find(isSet);
  if (provider !== undefined) {
    return {
      ...warn(
        'payer',
        `A cloud account pays: ${provider} is set.`,
        'Unset it if this is not intended.',
      ),
      facts: { payer: 'cloud', variable: provider },
    };
  }
  const key = API_KEYS.find(isSet);
  const login = 'The account that is logged in with Claude Code pays';
  if (key === undefined) {
    return { ...good('payer', `${login}; no API key is set.`), facts: { payer: 'login' } };
  }
  return apiKey === 'remove'
    ? {
        ...good('payer', `${login}; ${key} is kept from the agents.`),
        facts: { payer: 'login', variable: key },
      }
    : {
        ...warn(
          'payer',
          `The API account pays for each token: ${key} is set.`,
          'To use the subscription that is logged in, unset it or run with --api-key remove.',
        ),
        facts: { payer: 'apiKey', variable: key },
      };
}

/** Without Claude Code, nobody can be identified as logged in; the environment still determines who pays. */
async function withoutClaude(
  { env, settings }: ConfiguredWorkspace,
  found: Finding,
): Promise<Finding> {
  if (settings.agent !== 'claude' || found.facts?.['payer'] !== 'login') {
    return found;
  }
  const file = await findClaude(settings.claudePath, agentEnv(env)).catch((error: unknown) => {
    if (error instanceof HumanError) {
      return undefined;
    }
    throw error;
  });
  return file === undefined
    ? {
        ...found,
        level: 'warning',
        message: 'Who pays is not known yet, since Claude Code was not found.',
      }
    : found;
}
