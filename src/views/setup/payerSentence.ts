import { l10n } from 'vscode';
import type { Payer } from './claudeCheck.ts';

/** Who pays for the agents' work. */
export function payerSentence({ kind, variable = '' }: Payer): string {
  const sentences: Readonly<Record<Payer['kind'], string>> = {
    login: l10n.t('The account that is logged in with Claude Code pays.'),
    apiKey: l10n.t('The API account pays for each token, since {0} is set.', variable),
    cloud: l10n.t('A cloud account pays, since {0} is set.', variable),
    none: l10n.t('Nobody pays: the demo agent costs nothing.'),
    unknown: l10n.t('The agent determines who pays.'),
  };
  return sentences[kind];
}
