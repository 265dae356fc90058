import { commandText, idText, pathText } from './foreignText.ts';
import { PART } from './promptBudget.ts';
import type { PromptInput } from './promptInput.ts';
import { andMore } from './promptLists.ts';
import { shortenToTokens } from './tokens.ts';

/** Tells an agent what in the story file does not count as it was meant, so that it does not write the same again. */
export function misreadNotes(input: PromptInput): string[] {
  return [...stateNotes(input), ...sharedIdNotes(input)];
}

function stateNotes({ doneMark, misread = [], storyFile = '' }: PromptInput): string[] {
  if (misread.length === 0) {
    return [];
  }
  const shown = misread.slice(0, PART.misread).map(one => shortenToTokens(one, PART.problem));
  const more = andMore(misread.length - shown.length).map(count => `${count}.`);
  const mark =
    doneMark === undefined
      ? ''
      : ` Only ${doneMark.startsWith('[') ? doneMark : commandText(doneMark)} marks your story as done.`;
  return [
    `**${pathText(storyFile)} is not read as it was meant**: ${[...shown, ...more].join(' ')}${mark}`,
  ];
}

/** An agent may not give a story another id, so it only has to find its own. */
function sharedIdNotes({ sharedIds = [], story }: PromptInput): string[] {
  if (sharedIds.length === 0) {
    return [];
  }
  const named = sharedIds.slice(0, PART.needs).map(idText);
  const ids = [...named, ...andMore(sharedIds.length - named.length)].join(', ');
  const own =
    story === undefined || !sharedIds.includes(story.id)
      ? ''
      : ` Yours is “${shortenToTokens(story.title, PART.title)}” (${story.file === undefined ? `line ${story.line}` : pathText(story.file)}): mark only that one.`;
  return [
    `**Several stories have the same id**: ${ids}.${own} Leave these ids as they are, since a person has to correct them, and give none of them to another story.`,
  ];
}
