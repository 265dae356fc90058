/**
 * An English sentence for people, from a template and its arguments: `say('There is no {0}.', name)`. A window
 * recognizes the template of such a sentence and translates it (see `saidWords.ts`), even if the sentence comes
 * from an error, a journal, or the output of another process. Therefore all sentences of the loop that a window may
 * show are created with this function, each as a whole; `npm run l10n` collects the templates.
 */
export function say(template: string, ...args: readonly (string | number | boolean)[]): string {
  return template.replace(/\{(\d+)\}/g, (place, index) => String(args[Number(index)] ?? place));
}
