import type { PromptInput } from './promptInput.ts';
import { promptSections } from './promptSections.ts';
import type { PromptTemplate } from './promptTemplate.ts';
import { renderTemplate } from './renderTemplate.ts';
import { estimateTokens } from './tokens.ts';

/** A part of the prompt, named after its section; `template` is the user's own text between sections. */
export interface PromptSection {
  readonly name: string;
  /** Estimated. */
  readonly tokens: number;
  readonly text: string;
}

export interface IterationPrompt {
  readonly text: string;
  /** The whole prompt, in order. */
  readonly sections: readonly PromptSection[];
}

/**
 * The prompt of one iteration and its sections, based on the template of the Ralph-Fresh whitepaper (7.2) with the
 * story's own text, or on the user's own template. Pure: the same input gives the same prompt.
 */
export function iterationPrompt(input: PromptInput, template?: PromptTemplate): IterationPrompt {
  const sections = template ? renderTemplate(template, input) : promptSections(input);
  const text = sections.map(section => section.text).join(template ? '' : '\n\n');
  return {
    text: `${text.trimEnd()}\n`,
    sections: sections
      .filter(section => section.text.trim() !== '')
      .map(({ name, text: part }) => ({ name, tokens: estimateTokens(part), text: part })),
  };
}

/** The text of {@link iterationPrompt}. */
export function generateIterationPrompt(input: PromptInput, template?: PromptTemplate): string {
  return iterationPrompt(input, template).text;
}
