import { l10n } from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import type { Payer } from './claudeCheck.ts';

/** Who pays for the agents' work. */
export function payerSentence({ kind, variable = '' }: Payer): string {
  switch (kind) {
    case 'login':
      return l10n.t('The account that is logged in with Claude Code pays.');
    case 'apiKey':
      return l10n.t('The API account pays for each token, since {0} is set.', variable);
    case 'cloud':
      return l10n.t('A cloud account pays, since {0} is set.', variable);
    case 'none':
      return l10n.t('Nobody pays: the demo agent costs nothing.');
    case 'unknown':
      return l10n.t('The agent determines who pays.');
    default:
      return assertNever(kind);
  }
}
