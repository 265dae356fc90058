import { env, l10n } from 'vscode';
import { saidOf } from '../../base/messageOf.ts';
import type { Words } from '../../base/say.ts';
import { saidIn } from '../../presentation/said.ts';
import type { Translate } from '../../presentation/translate.ts';

const inWindow: typeof l10n.t = l10n.t;
let said: ReturnType<typeof saidIn> | undefined;

/** Texts, numbers and times in the display language. */
export const translate: Translate = Object.assign(
  (message: string, ...args: (string | number | boolean)[]) => inWindow(message, ...args),
  {
    language: env.language,
    said(words: Words): string {
      said ??= saidIn(l10n.bundle ?? {});
      return said(words);
    },
  },
);

/** The message of an error, in the display language if it is one of ours. */
export function errorWords(error: unknown): string {
  return translate.said(saidOf(error));
}
