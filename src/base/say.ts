/**
 * An English sentence for people, of a template and what stands in its places: `say('There is no {0}.', name)`.
 * A window finds the template of such a sentence again and says it in its own language (see `saidWords.ts`), wherever
 * the sentence has been meanwhile: in an error, a journal, the output of another process. So all sentences of the loop
 * that may come to a window are made here, each as a whole; `npm run l10n` collects the templates.
 */
export function say(template: string, ...args: readonly (string | number | boolean)[]): string {
  return template.replace(/\{(\d+)\}/g, (place, index) => String(args[Number(index)] ?? place));
}
