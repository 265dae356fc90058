import { editDistance } from '../../../base/editDistance.ts';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { PROMPT_BUDGET } from './promptBudget.ts';
import {
  FACTS,
  fieldsOf,
  type ItemPart,
  LISTS,
  type ListName,
  type Part,
  PLACEHOLDERS,
} from './templateParts.ts';

/** Two or three braces that are closed on the same line, or two that are not. */
const TAG = /(\\?)(?:\{\{\{([^{}\n]*)\}\}\}|\{\{([^{}\n]*)\}\}|\{\{)/g;

/** Reads the parts of one template. */
export class TemplateParser {
  private readonly parts: Part[] = [];
  private each: { name: ListName; item: ItemPart[]; at: number } | undefined;
  private readonly text: string;
  private readonly file: string;

  constructor(text: string, file: string) {
    this.text = text;
    this.file = file;
  }

  /** @throws {HumanError} with the file, the line and how to fix it */
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
          say('"{{" without "}}" on the same line. Close it, or write "\\{{" for two braces'),
        );
      }
      const line = this.lineAround(match.index, end);
      const isBlock = /^[#/!]/.test(name);
      // As in Handlebars: if a block tag is alone on its line, the line is removed.
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

  /** The whole line around a tag, including its end, if it contains nothing else. */
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

  private fail(at: number, problem: Message): never {
    const line = this.text.slice(0, at).split('\n').length;
    throw new HumanError(say('{0}:{1}: {2}.', this.file, line, problem));
  }
}

function isKey<T extends object>(table: T, name: string): name is keyof T & string {
  return Object.hasOwn(table, name);
}

function nearestOf(name: string, known: readonly string[]): string {
  const distances = known.map(other => editDistance(name.toLowerCase(), other.toLowerCase()));
  return known[distances.indexOf(Math.min(...distances))] ?? '';
}
