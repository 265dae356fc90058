import { assertNever } from '../../base/assertNever.ts';
import { shorten } from '../../base/text.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { compact, type Translate } from '../../presentation/translate.ts';
import type { ShownFact } from './protocol.ts';

const MAX_TEXT = 300;

/** What controls the run, who pays, and its cost so far. Pure. */
export function runFacts(state: RunState, t: Translate): readonly ShownFact[] {
  const { agent, branch, model, startedAt, usage, verify } = state;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const found: ShownFact[] = [];
  const add = (label: string, text: string | undefined) => {
    if (text !== undefined && text !== '') {
      found.push({ label, value: { text: shorten(text, MAX_TEXT) } });
    }
  };
  add(t('Agent'), agentName(agent, t));
  add(t('Model'), model);
  add(t('Billing'), billing(state, t));
  add(t('Tokens'), tokens > 0 ? compact(tokens, t) : undefined);
  add(t('Branch'), branch);
  add(t('Checks'), verify.join(' · '));
  if (startedAt !== undefined) {
    found.push({ label: t('Started'), value: { at: startedAt } });
  }
  return found;
}

function agentName(agent: string | undefined, t: Translate): string | undefined {
  switch (agent) {
    case 'claude':
      return 'Claude Code';
    case 'sdk':
      return 'Claude Agent SDK';
    case 'demo':
      return t('Demo');
    case 'command':
      return t('Command');
    default:
      return agent;
  }
}

/** Who pays, as far as it is known: without a key, it may be a subscription or a cloud account. */
function billing({ agent, apiKeySource, payer }: RunState, t: Translate): string | undefined {
  if (agent === 'demo') {
    return t('Nothing to pay');
  }
  // What the agent itself reports is more reliable than a guess from its environment.
  if (apiKeySource !== undefined) {
    return apiKeySource === 'none' ? t('No API key in use') : t('API key ({0})', apiKeySource);
  }
  switch (payer) {
    case 'apiKey':
      return t('API key in the environment');
    case 'login':
      return t('The account that is logged in');
    case undefined:
      return undefined;
    default:
      return assertNever(payer);
  }
}
