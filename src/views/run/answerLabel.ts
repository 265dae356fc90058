import { l10n } from 'vscode';

/**
 * The label for answering an agent's question. @param ended the question has ended the run, and an answer continues
 * it
 */
export function answerLabel(ended: boolean): string {
  return ended ? l10n.t('Answer and Continue…') : l10n.t('Answer…');
}
