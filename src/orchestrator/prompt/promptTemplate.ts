import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HumanError } from '../humanError.ts';
import { say } from '../say.ts';
import { shorten, withoutControls } from '../text.ts';
import { asData, commandText } from './foreignText.ts';
import { PROMPT_BUDGET, SECTION_NAMES, type SectionName } from './promptBudget.ts';
import { commitsOf, learningsOf, nextStoryIdOf, patternsOf, taskOf } from './promptFacts.ts';
import type { PromptInput } from './promptInput.ts';
import { promptSections } from './promptSections.ts';
import { estimateTokens, shortenToTokens } from './tokens.ts';

/** Largest template file, in bytes. */
export const TEMPLATE_MAX_BYTES = 64 * 1024;
/** Most tokens that a prompt made by a template may come to, whatever is filled in. */
export const TEMPLATE_MAX_TOKENS = 60_000;

/** Most tokens of each single fact. */
const FACTS = {
  N: 4,
  MAX: 4,
  original_prompt: 1_200,
  project: 60,
  branch: 60,
  completed: 4,
  total: 4,
  remaining: 4,
  nextStoryId: 60,
  nextStoryTitle: 90,
  lastCompletedStory: 60,
  lastError: 180,
  completion_promise: 60,
  storyFile: 120,
  progressFile: 120,
} as const;

/** How many items each list has at most, and of how many tokens. */
const LISTS = {
  recentCommits: { items: 10, tokens: 80 },
  patterns: { items: 100, tokens: 115 },
  learnings: { items: 100, tokens: 115 },
  verify: { items: 8, tokens: 65 },
} as const;

type FactName = keyof typeof FACTS;
type ListName = keyof typeof LISTS;

/** Every name that a template may use outside of `{{#each}}`. */
export const PLACEHOLDERS: readonly string[] = [
  ...SECTION_NAMES,
  ...Object.keys(FACTS),
  ...Object.keys(LISTS),
];

type ItemPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly name: string };

type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `alone`: nothing else is in its line, which goes when the section is empty. */
  | { readonly kind: 'section'; readonly name: SectionName; readonly alone: boolean }
  | { readonly kind: 'fact'; readonly name: FactName }
  | { readonly kind: 'list'; readonly name: ListName }
  | { readonly kind: 'each'; readonly name: ListName; readonly item: readonly ItemPart[] };

/** A checked template. Made by {@link parsePromptTemplate} only. */
export interface PromptTemplate {
  readonly file: string;
  readonly parts: readonly Part[];
}

/**
 * Reads the user's own template.
 * @returns `undefined` when there is no such file
 * @throws {HumanError} when it is no text file, too large, or {@link parsePromptTemplate} refuses it
 */
export async function readPromptTemplate(file: string): Promise<PromptTemplate | undefined> {
  let handle: FileHandle;
  try {
    // A pipe in the place of the file must not be waited for.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return undefined;
    }
    throw new HumanError(say('{0} cannot be read: {1}. Mend or remove it.', file, message), {
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
          '{0} has {1} bytes; a prompt template may have {2}. Move the rest into files that the prompt names.',
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
 * Checks a template: placeholders `{{name}}` for sections, facts and lists, and `{{#each list}} … {{/each}}`.
 * `\{{` stands for two braces.
 * @param file for messages
 * @throws {HumanError} naming file, line and mend
 */
export function parsePromptTemplate(text: string, file: string): PromptTemplate {
  const clean = withoutControls(text);
  if (clean.trim() === '') {
    throw new HumanError(
      say(
        '{0} is empty, and so the prompt would be. Write a template, or remove the file to use the usual prompt.',
        file,
      ),
    );
  }
  const parts = new TemplateParser(clean, file).parse();
  const tokens = parts.reduce((sum, part) => sum + mostTokens(part), 0);
  if (tokens > TEMPLATE_MAX_TOKENS) {
    throw new HumanError(
      say(
        '{0} may give a prompt of {1} tokens; the most is {2}. Use each section once, or shorten the text.',
        file,
        tokens,
        TEMPLATE_MAX_TOKENS,
      ),
    );
  }
  return { file, parts };
}

/** Fills a template in. What is filled in is text: a placeholder in it stays as it is. Pure. */
export function renderTemplate(
  template: PromptTemplate,
  input: PromptInput,
): { name: string; text: string }[] {
  const sections = new Map<string, string>(
    promptSections(input).map(({ name, text }) => [name, text]),
  );
  const rendered: { name: string; text: string }[] = [];
  const add = (name: string, text: string) => {
    const last = rendered.at(-1);
    if (last?.name === name && name === 'template') {
      last.text += text;
    } else {
      rendered.push({ name, text });
    }
  };
  let dropsLine = false;
  for (const part of template.parts) {
    if (part.kind === 'section') {
      const text = sections.get(part.name) ?? '';
      dropsLine = part.alone && text === '';
      add(part.name, text);
    } else {
      const text = textOf(part, input);
      add('template', dropsLine ? text.replace(/^\n{1,2}/, '') : text);
      dropsLine = false;
    }
  }
  return rendered;
}

function textOf(part: Exclude<Part, { kind: 'section' }>, input: PromptInput): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'fact':
      return factOf(part.name, input);
    case 'list': {
      const items = itemsOf(part.name, input);
      return items.length === 0 ? '- none yet' : items.map(item => `- ${item['this']}`).join('\n');
    }
    case 'each':
      return itemsOf(part.name, input)
        .map(item =>
          part.item
            .map(piece => (piece.kind === 'text' ? piece.text : (item[piece.name] ?? '')))
            .join(''),
        )
        .join('');
  }
}

function factOf(name: FactName, input: PromptInput): string {
  const { handoff } = input;
  const { prd } = handoff;
  const line = (text: string | undefined) => shortenToTokens(text ?? '', FACTS[name]);
  switch (name) {
    case 'N':
      return String(handoff.iteration);
    case 'MAX':
      return String(handoff.max_iterations);
    case 'original_prompt':
      return asData(taskOf(input), FACTS[name]);
    case 'project':
      return line(prd?.project);
    case 'branch':
      return line(handoff.git.branch);
    case 'completed':
      return String(prd?.storiesCompleted ?? 0);
    case 'total':
      return String(prd?.storiesTotal ?? 0);
    case 'remaining':
      return String((prd?.storiesTotal ?? 0) - (prd?.storiesCompleted ?? 0));
    case 'nextStoryId':
      return line(nextStoryIdOf(handoff));
    case 'nextStoryTitle':
      return line(input.story?.title);
    case 'lastCompletedStory':
      return line(handoff.progress.lastCompletedStory);
    case 'lastError':
      return line(handoff.lastError?.message);
    case 'completion_promise':
      return line(handoff.completion_promise);
    case 'storyFile':
      return line(input.storyFile);
    case 'progressFile':
      return line(input.plan?.progressFile ?? input.progressFile);
  }
}

function itemsOf(name: ListName, input: PromptInput): Record<string, string>[] {
  switch (name) {
    case 'recentCommits':
      return commitsOf(input.handoff).map(({ hash, message }) => ({
        hash,
        message,
        this: `${hash}: ${message}`,
      }));
    case 'patterns':
      return patternsOf(input.handoff).map(text => ({ this: text }));
    case 'learnings':
      return learningsOf(input.handoff).map(text => ({ this: text }));
    case 'verify':
      return (input.verify ?? [])
        .slice(0, LISTS.verify.items)
        .map(command => ({ this: commandText(command) }));
  }
}

/** Fields of an item of each list. */
function fieldsOf(list: ListName): readonly string[] {
  return list === 'recentCommits' ? ['hash', 'message', 'this'] : ['this'];
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

/** Patterns and learnings have a bound in all, too. */
function listTokens(name: ListName): number {
  const { items, tokens } = LISTS[name];
  return Math.min(items * (tokens + 2), PROMPT_BUDGET.state);
}

/** Any two or three braces that are closed in their line, or two that are not. */
const TAG = /(\\?)(?:\{\{\{([^{}\n]*)\}\}\}|\{\{([^{}\n]*)\}\}|\{\{)/g;

class TemplateParser {
  private readonly parts: Part[] = [];
  private each: { name: ListName; item: ItemPart[]; at: number } | undefined;
  private readonly text: string;
  private readonly file: string;

  constructor(text: string, file: string) {
    this.text = text;
    this.file = file;
  }

  parse(): readonly Part[] {
    let from = 0;
    for (const match of this.text.matchAll(TAG)) {
      const [whole, backslash, inThree, inTwo] = match;
      const end = match.index + whole.length;
      if (backslash === '\\') {
        this.addText(this.text.slice(from, match.index) + whole.slice(1));
        from = end;
        continue;
      }
      const name = (inThree ?? inTwo)?.trim();
      if (name === undefined) {
        this.fail(
          match.index,
          say('"{{" without "}}" in its line. Close it, or write "\\{{" for two braces'),
        );
      }
      const line = this.lineAround(match.index, end);
      const isBlock = /^[#/!]/.test(name);
      // As in Handlebars: a block's tag that is alone in its line takes no line in the result.
      const takesLine = isBlock && line !== undefined;
      this.addText(this.text.slice(from, takesLine ? Math.max(from, line.start) : match.index));
      this.addTag(name, match.index, line !== undefined);
      from = takesLine ? line.end : end;
    }
    if (this.each) {
      this.fail(this.each.at, say('{0} has no {{/each}}. Add it', `{{#each ${this.each.name}}}`));
    }
    this.addText(this.text.slice(from));
    return this.parts;
  }

  private addText(text: string): void {
    if (text !== '') {
      (this.each?.item ?? this.parts).push({ kind: 'text', text });
    }
  }

  private addTag(name: string, at: number, alone: boolean): void {
    if (name.startsWith('!')) {
      return;
    }
    if (name.startsWith('#') || name.startsWith('/')) {
      this.addBlock(name, at);
    } else if (this.each) {
      this.addField(this.each, name, at);
    } else if (isKey(PROMPT_BUDGET, name)) {
      this.parts.push({ kind: 'section', name, alone });
    } else if (isKey(FACTS, name)) {
      this.parts.push({ kind: 'fact', name });
    } else if (isKey(LISTS, name)) {
      this.parts.push({ kind: 'list', name });
    } else {
      this.failUnknown(name, at, PLACEHOLDERS);
    }
  }

  private addBlock(name: string, at: number): void {
    if (/^\/\s*each$/.test(name)) {
      if (this.each === undefined) {
        this.fail(at, say('{{/each}} without {{#each …}} before it. Remove it'));
      }
      this.parts.push({ kind: 'each', name: this.each.name, item: this.each.item });
      this.each = undefined;
      return;
    }
    const [, list] = /^#\s*each\s+(\S+)$/.exec(name) ?? [];
    if (list === undefined) {
      this.fail(
        at,
        say(
          '{0} is not known. The only blocks are {{#each …}} and {{/each}}',
          `{{${shorten(name, 60)}}}`,
        ),
      );
    }
    if (this.each) {
      this.fail(at, say('{{#each …}} within another one. End the first with {{/each}}'));
    }
    if (!isKey(LISTS, list)) {
      this.failUnknown(list, at, Object.keys(LISTS), '#each ');
    }
    this.each = { name: list, item: [], at };
  }

  private addField(each: { name: ListName; item: ItemPart[] }, name: string, at: number): void {
    const fields = fieldsOf(each.name);
    if (!fields.includes(name)) {
      this.failUnknown(name, at, fields, '', `{{#each ${each.name}}}`);
    }
    each.item.push({ kind: 'field', name });
  }

  /** The whole line around a tag, with its end, when there is nothing else in it. */
  private lineAround(from: number, to: number): { start: number; end: number } | undefined {
    const start = from === 0 ? 0 : this.text.lastIndexOf('\n', from - 1) + 1;
    const newline = this.text.indexOf('\n', to);
    const end = newline === -1 ? this.text.length : newline;
    const others = this.text.slice(start, from) + this.text.slice(to, end);
    return others.trim() === '' ? { start, end: Math.min(end + 1, this.text.length) } : undefined;
  }

  private failUnknown(
    name: string,
    at: number,
    known: readonly string[],
    prefix = '',
    block?: string,
  ): never {
    const nearest = nearestOf(name.slice(0, 60), known);
    const written = `{{${prefix}${shorten(name, 60)}}}`;
    const meant = `{{${prefix}${nearest}}}`;
    this.fail(
      at,
      block === undefined
        ? say(
            '{0} is not known. Did you mean {1}? Known here: {2}. Write "\\{{" for two braces',
            written,
            meant,
            known.join(', '),
          )
        : say(
            '{0} is not known within {1}. Did you mean {2}? Known here: {3}. Write "\\{{" for two braces',
            written,
            block,
            meant,
            known.join(', '),
          ),
    );
  }

  private fail(at: number, problem: string): never {
    const line = this.text.slice(0, at).split('\n').length;
    throw new HumanError(say('{0}:{1}: {2}.', this.file, line, problem));
  }
}

function isKey<T extends object>(table: T, name: string): name is keyof T & string {
  return Object.hasOwn(table, name);
}

function nearestOf(name: string, known: readonly string[]): string {
  const distances = known.map(other => distance(name.toLowerCase(), other.toLowerCase()));
  return known[distances.indexOf(Math.min(...distances))] ?? '';
}

/** Levenshtein's: how many letters must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j += 1) {
      next.push(
        Math.min(
          (next[j - 1] ?? 0) + 1,
          (row[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + (b[j - 1] === letter ? 0 : 1),
        ),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
