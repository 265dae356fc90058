import { env, l10n } from 'vscode';
import type { Translate } from '../presentation/sentences.ts';

const inWindow: typeof l10n.t = l10n.t;

/** Texts, numbers and times in the language of the window. */
export const translate: Translate = Object.assign(
  (message: string, ...args: (string | number | boolean)[]) => inWindow(message, ...args),
  { language: env.language },
);
