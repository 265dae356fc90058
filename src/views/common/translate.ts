import { env, l10n } from 'vscode';
import { messageOf } from '../../base/messageOf.ts';
import { SaidWords } from '../../presentation/saidWords.ts';
import type { Translate } from '../../presentation/translate.ts';

const inWindow: typeof l10n.t = l10n.t;
let saidWords: SaidWords | undefined;

/** Texts, numbers and times in the display language. */
export const translate: Translate = Object.assign(
  (message: string, ...args: (string | number | boolean)[]) => inWindow(message, ...args),
  {
    language: env.language,
    said(text: string): string {
      saidWords ??= new SaidWords(l10n.bundle ?? {});
      return saidWords.in(text);
    },
  },
);

/** The message of an error, in the display language if it is one of ours. */
export function errorWords(error: unknown): string {
  return translate.said(messageOf(error));
}
