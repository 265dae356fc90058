import { l10n } from 'vscode';

/** Of what lets a person answer an agent's question. @param ended the run has ended for it, and goes on with the answer */
export function answerLabel(ended: boolean): string {
  return ended ? l10n.t('Answer and Go On…') : l10n.t('Answer…');
}
