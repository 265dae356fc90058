import { once } from '../../../base/once.ts';
import { idInText, labelInText } from './idInText.ts';
import { indentOf, type MarkdownLine } from './markdownBlocks.ts';
import { isLegend } from './stateMarks.ts';
import { withoutItems } from './tasksWithoutBox.ts';

/** `Phase 1: [ ] Build`. */
const LABELED = /^\p{L}{1,20}[\t ]\d{1,4}/u;
/** Behind a box: how much is done. */
const COUNT = /^[^\p{L}\p{N}]{0,9}\d{1,9}\s?\/\s?\d/u;
/** What a list leaves out of a heading: it calls `Phase 1: Build` `Phase 1`. */
const REST = /(?:[:\uFF1A]|\s[-\u2013\u2014]\s).*$/s;

/** What names the items of a plan, and is none itself: headings, titles and lists of headings. */
export class PlanGroups {
  private readonly lines: readonly MarkdownLine[];
  private readonly empty: () => ReadonlySet<number>;
  private readonly headings: () => ReadonlySet<string>;
  private readonly items: () => ReadonlySet<string>;
  private readonly labels: () => ReadonlySet<string>;

  constructor(lines: readonly MarkdownLine[]) {
    this.lines = lines;
    this.empty = once(() => withoutItems(lines));
    this.headings = once(
      () =>
        new Set(
          lines.flatMap((line, index) =>
            line.kind === 'heading' && !this.empty().has(index)
              ? [line.title, line.title.replace(REST, '')].map(nameIn)
              : [],
          ),
        ),
    );
    this.items = once(
      () =>
        new Set(
          lines.flatMap(line => (line.kind === 'checkbox' ? keysOf(line.checkbox.text) : [])),
        ),
    );
    this.labels = once(
      () =>
        new Set(
          lines.flatMap(line =>
            line.kind === 'checkbox' ? (labelOf(line.checkbox.text) ?? []) : [],
          ),
        ),
    );
  }

  /** Whether a heading has items, or says more about one: its title is that of an item, or its id. */
  isHeading(index: number): boolean {
    const line = this.lines[index];
    return (
      line?.kind === 'heading' &&
      (!this.empty().has(index) || keysOf(line.title).some(key => this.items().has(key)))
    );
  }

  /** The same, also if only a number or label is that of an item: `### Task 2: …` or `### 1.2 …`. */
  isAbout(index: number): boolean {
    const line = this.lines[index];
    const label = line?.kind === 'heading' ? labelOf(line.title) : undefined;
    return this.isHeading(index) || (label !== undefined && this.labels().has(label));
  }

  /**
   * Whether a line names items: they follow below it, or it is in a list of the headings that have them.
   * @param box where its box begins, as an index of the line
   */
  isTitle(index: number, box = 0): boolean {
    const { text = '' } = this.lines[index] ?? {};
    const next = this.lines.slice(index + 1, index + 3).find(line => line.text.trim() !== '');
    const isAbove =
      next?.kind === 'checkbox' &&
      (next.checkbox.indent > indentOf(text) ||
        LABELED.test(text) ||
        (/^(?:\*\*|<)/.test(text) && !hasTextsAround(text, box)));
    return isAbove || this.isInList(text, box);
  }

  private isInList(text: string, box: number): boolean {
    const before = nameIn(text.slice(0, box));
    const name = before === '' ? nameIn(text) : before;
    const isItem = hasTextsAround(text, box) && !COUNT.test(text.slice(box + 1));
    return name !== '' && !isItem && this.headings().has(name);
  }
}

/** Whether a text is in front of a box, and what is to be done behind it. */
function hasTextsAround(text: string, box: number): boolean {
  const behind = text.slice(box + 1).replace(/^[ xX]?\]/, '');
  return /\p{L}/u.test(text.slice(0, box)) && /\p{L}/u.test(behind) && !isLegend(behind);
}

/** By what an item is known: its name, and its id unless that is a number, which may begin anew below each heading. */
function keysOf(text: string): string[] {
  const own = ownText(text);
  const id = idInText(own);
  const keys = [nameIn(own), ...(id === undefined || /^\d/.test(id) ? [] : [id])];
  return keys.filter(key => key !== '');
}

/** A number or label that may begin anew below each heading. */
function labelOf(text: string): string | undefined {
  const own = ownText(text);
  return idInText(own) ?? labelInText(own);
}

function ownText(text: string): string {
  return text.replace(/^\[[ xX]?\]/, '').trim();
}

/** The letters and digits of a text, without the number of a list and the target of a link. */
function nameIn(text: string): string {
  return text
    .replace(/^[\t ]*\d{1,9}[.)][\t ]/, '')
    .replace(/\]\([^()]{0,200}\)/g, ']')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
