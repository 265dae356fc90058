import { pathText } from './foreignText.ts';
import { PART } from './promptBudget.ts';
import type { PromptInput } from './promptInput.ts';
import { andMore } from './promptLists.ts';
import { shortenToTokens } from './tokens.ts';

type Found = NonNullable<PromptInput['duplicates']>['found'][number];

/** Tells an agent what the last new code repeats, so that it uses the code that was there. */
export function duplicateNotes({ duplicates }: PromptInput): string[] {
  if (duplicates === undefined || duplicates.found.length === 0) {
    return [];
  }
  const shown = duplicates.found
    .slice(0, PART.duplicates)
    .map(found => shortenToTokens(sentence(found), PART.duplicate));
  const rest = andMore(duplicates.found.length - shown.length).map(more => ` ${more}.`);
  return [
    `**Iteration ${duplicates.iteration} added what was there already**: ${shown.join(' ')}${rest.join('')} Use the existing one. If your task touches the new one, let its callers use the existing one and remove it; leave it if the two are meant to differ.`,
  ];
}

function sentence({ file, kind, line, name, other }: Found): string {
  return kind === 'file'
    ? `${pathText(file)} repeats ${pathText(other.file)}.`
    : `\`${name}\` (${pathText(file)}:${line}) repeats \`${other.name}\` (${pathText(other.file)}:${other.line}).`;
}
