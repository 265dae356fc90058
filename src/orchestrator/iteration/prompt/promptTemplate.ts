import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { withoutControls } from '../../../base/text.ts';
import { requireInside } from '../../stories/outsideLinks.ts';
import { PROMPT_BUDGET } from './promptBudget.ts';
import { TemplateParser } from './templateParser.ts';
import { FACTS, LISTS, type ListName, type Part } from './templateParts.ts';
import { estimateTokens } from './tokens.ts';

/** Largest template file, in bytes. */
export const TEMPLATE_MAX_BYTES = 64 * 1024;
/** Maximum number of tokens of a prompt from a template, whatever is filled in. */
export const TEMPLATE_MAX_TOKENS = 60_000;

/** A validated template. Only created by {@link parsePromptTemplate}. */
export interface PromptTemplate {
  readonly file: string;
  readonly parts: readonly Part[];
}

/**
 * Reads the user's own template.
 * @returns `undefined` if there is no such file
 * @throws {HumanError} if it leads out of the repository, is not a text file, is too large, or {@link
 * parsePromptTemplate} rejects it
 */
export async function readPromptTemplate(file: string): Promise<PromptTemplate | undefined> {
  requireInside(file);
  let handle: FileHandle;
  try {
    // Opening a pipe must not block.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return undefined;
    }
    throw new HumanError(say('{0} cannot be read: {1}. Fix or remove it.', file, message), {
      cause: error,
    });
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) {
      throw new HumanError(
        say('{0} is not a file. A prompt template is a text file; remove it.', file),
      );
    }
    if (stat.size > TEMPLATE_MAX_BYTES) {
      throw new HumanError(
        say(
          '{0} has {1} bytes; a prompt template may have at most {2}. Move the rest into files that the prompt names.',
          file,
          stat.size,
          TEMPLATE_MAX_BYTES,
        ),
      );
    }
    return parsePromptTemplate(decode(await handle.readFile(), file), file);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new HumanError(say('{0} is not UTF-8 text. Save it as UTF-8.', file), { cause: error });
  }
}

/**
 * Validates a template: placeholders `{{name}}` for sections, facts and lists, and `{{#each list}} … {{/each}}`.
 * `\{{` produces two braces.
 * @param file for messages
 * @throws {HumanError} with the file, the line and how to fix it
 */
export function parsePromptTemplate(text: string, file: string): PromptTemplate {
  const clean = withoutControls(text);
  if (clean.trim() === '') {
    throw new HumanError(
      say(
        '{0} is empty, so the prompt would be empty, too. Write a template, or remove the file to use the default prompt.',
        file,
      ),
    );
  }
  const parts = new TemplateParser(clean, file).parse();
  const tokens = parts.reduce((sum, part) => sum + mostTokens(part), 0);
  if (tokens > TEMPLATE_MAX_TOKENS) {
    throw new HumanError(
      say(
        '{0} could result in a prompt of {1} tokens; the maximum is {2}. Use each section once, or shorten the text.',
        file,
        tokens,
        TEMPLATE_MAX_TOKENS,
      ),
    );
  }
  return { file, parts };
}

function mostTokens(part: Part): number {
  switch (part.kind) {
    case 'text':
      return estimateTokens(part.text);
    case 'section':
      return PROMPT_BUDGET[part.name];
    case 'fact':
      return FACTS[part.name];
    case 'list':
      return listTokens(part.name);
    case 'each': {
      const { items } = LISTS[part.name];
      const own = part.item.reduce(
        (sum, piece) => sum + (piece.kind === 'text' ? estimateTokens(piece.text) : 0),
        0,
      );
      const filled = part.item.filter(piece => piece.kind === 'field').length;
      return items * own + filled * listTokens(part.name);
    }
  }
}

/** Patterns and learnings also have a limit for the whole list. */
function listTokens(name: ListName): number {
  const { items, tokens } = LISTS[name];
  return Math.min(items * (tokens + 2), PROMPT_BUDGET.state);
}
