import type { SyntaxNode } from '@lezer/common';
import { shorten } from '../../../base/text.ts';
import { GRAMMARS, type Grammar, type SymbolRule } from './grammars.ts';
import { type Language, languageOf } from './language.ts';
import { treeOf } from './parsers.ts';
import type { CodeSymbol, SymbolKind } from './symbol.ts';

/** Larger files are data, or made by a program. */
const MAX_UNITS = 200_000;
/** Nobody writes lines of this length: the file is minified. */
const LONG_LINE = 5_000;
const MAX_SIGNATURE = 160;
/** Deeper definitions are not looked for. */
const MAX_DEPTH = 12;
/** Several definitions can share this word. */
const GO_WORDS: ReadonlyMap<string, string> = new Map([
  ['TypeSpec', 'type '],
  ['ConstSpec', 'const '],
]);
const FUNCTIONS = new Set(['ArrowFunction', 'FunctionExpression']);

/**
 * The symbols that a source file defines, in its order: nothing inside of functions, and nothing of a module for tests.
 * Never fails: there are none in a file of another language, in a minified one or in one over 200 KB, and what
 * has syntax errors may be left out.
 */
export function symbolsOf(path: string, text: string): CodeSymbol[] {
  const language = languageOf(path);
  if (language === undefined || text.length > MAX_UNITS || hasLongLine(text)) {
    return [];
  }
  const tree = treeOf(language, text, !/\.[cm]?ts$/i.test(path));
  const finder = new Finder(text, language);
  finder.open(tree.topNode, 0, false);
  return finder.found;
}

function hasLongLine(text: string): boolean {
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    const end = text.indexOf('\n', from);
    to = end < 0 ? text.length : end;
    if (to - from > LONG_LINE) {
      return true;
    }
  }
  return false;
}

class Finder {
  readonly found: CodeSymbol[] = [];
  private readonly text: string;
  private readonly language: Language;
  private readonly grammar: Grammar;
  /** Where lines start. */
  private readonly lines: number[] = [0];

  constructor(text: string, language: Language) {
    this.text = text;
    this.language = language;
    this.grammar = GRAMMARS[language];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.lines.push(at + 1);
    }
  }

  open(parent: SyntaxNode, depth: number, isOwned: boolean): void {
    const owned = isOwned || this.grammar.owners.has(parent.name);
    for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
      const rule = this.grammar.rules[node.name];
      const isFunction = rule !== undefined && this.add(node, rule, owned);
      if (!isFunction && depth < MAX_DEPTH && this.isOpened(node)) {
        this.open(node, depth + 1, owned);
      }
    }
  }

  private isOpened(node: SyntaxNode): boolean {
    const isTests =
      node.name === 'ModItem' && /^(?:pub )?mod tests?\b/.test(this.text.slice(node.from, node.to));
    return this.grammar.opened.has(node.name) && !isTests;
  }

  /** @returns whether it is a function, which nobody looks into */
  private add(node: SyntaxNode, rule: SymbolRule, isOwned: boolean): boolean {
    if (node.name === 'VariableDeclaration') {
      this.addVariables(node);
      return true;
    }
    const value = rule.body?.[0] === '' || node.name === 'Property' ? functionIn(node) : null;
    const name = nameNode(node, rule);
    const body = value === null ? bodyOf(node, rule) : lastChild(value);
    const isCode = rule.kind === 'function' || rule.kind === 'method';
    const isPart = rule.body?.[0] === '' || node.name === 'Property';
    if (name === null || (isPart && body === null)) {
      return false;
    }
    const text = this.text.slice(name.from, name.to).split('::').at(-1) ?? '';
    const isConstant = rule.kind === 'constant';
    if (isConstant && this.language === 'python' && !/^[A-Z][A-Z\d_]+$/.test(text)) {
      return false;
    }
    const isMember = isOwned || name.name === 'ScopedIdentifier';
    const kind = rule.kind === 'function' && isMember ? 'method' : rule.kind;
    this.push(kind, text, node, body);
    return isCode;
  }

  /** `const a = 1, b = () => 2`: each of them. */
  private addVariables(node: SyntaxNode): void {
    for (const name of node.getChildren('VariableDefinition')) {
      const isFirst = name.prevSibling?.name !== ',';
      let value = name.nextSibling;
      while (value !== null && value.name !== 'Equals' && value.name !== ',') {
        value = value.nextSibling;
      }
      const given = value?.name === 'Equals' ? value.nextSibling : null;
      if (given === null) {
        continue;
      }
      const isFunction = FUNCTIONS.has(given.name);
      const to = isFunction ? lastChild(given) : null;
      const text = this.text.slice(name.from, name.to);
      this.push(isFunction ? 'function' : 'constant', text, isFirst ? node : name, to, given.to);
    }
  }

  private push(
    kind: SymbolKind,
    name: string,
    node: SyntaxNode,
    body: SyntaxNode | null,
    until = node.to,
  ): void {
    const outer = node.parent?.name === 'ExportDeclaration' ? node.parent : node;
    const from = body?.from ?? node.to;
    const isWhole = body === null;
    const end = isWhole ? Math.min(until, outer.from + 1_000) : from;
    const head = `${GO_WORDS.get(node.name) ?? ''}${this.text.slice(outer.from, end)}`;
    this.found.push({
      kind,
      name: shorten(name, MAX_SIGNATURE),
      signature: shorten(
        head
          .replace(/\s+/g, ' ')
          .replace(/(?:=>|[{:;])?\s*$/, '')
          .trim(),
        MAX_SIGNATURE,
      ),
      line: this.lineAt(outer.from),
      endLine: this.lineAt(Math.max(outer.from, node.to - 1)),
      body: { from, to: body?.to ?? from },
      ...withExport(this.exportOf(outer, name, head)),
    });
  }

  private exportOf(node: SyntaxNode, name: string, head: string): boolean | undefined {
    switch (this.language) {
      case 'javascript':
        return node.name === 'ExportDeclaration' || this.isNamedInExport(name);
      case 'python':
        return !name.startsWith('_');
      case 'rust':
        return node.getChild('Vis') !== null;
      case 'go':
        return /^\p{Lu}/u.test(name);
      case 'java':
        return /\bpublic\b/.test(head);
      default:
        return undefined;
    }
  }

  private exports: ReadonlySet<string> | undefined;

  /** `export { a, b as c }`, `module.exports = { a }`, `exports.a = a`. */
  private isNamedInExport(name: string): boolean {
    this.exports ??= new Set(
      [
        ...this.text.matchAll(
          /\bexport\s*(?:default\s+(\w+)|\{([^{}]{0,5000})\})|\bexports\s*=\s*\{([^{}]{0,5000})\}|\bexports\.(\w+)/g,
        ),
      ].flatMap(([, ...parts]) => parts.join(' ').match(/[\w$]+/g) ?? []),
    );
    return this.exports.has(name);
  }

  private lineAt(position: number): number {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.lines[middle] ?? 0) <= position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

const withExport = (isExported: boolean | undefined) =>
  isExported === undefined ? {} : { isExported };

function nameNode(node: SyntaxNode, { name }: SymbolRule): SyntaxNode | null {
  if (node.name === 'AssignmentExpression') {
    return node.getChild('MemberExpression')?.getChild('PropertyName') ?? null;
  }
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (name.includes(child.name)) {
      return child;
    }
    // C and C++: the name is inside of what says that it is a function, or a pointer to what it returns.
    if (child.name.endsWith('Declarator')) {
      const inner = nameNode(child, { kind: 'function', name });
      if (inner !== null) {
        return inner;
      }
    }
  }
  return null;
}

function bodyOf(node: SyntaxNode, { body = [] }: SymbolRule): SyntaxNode | null {
  for (let child = node.lastChild; child !== null; child = child.prevSibling) {
    if (body.includes(child.name)) {
      return child;
    }
  }
  return null;
}

function functionIn(node: SyntaxNode): SyntaxNode | null {
  for (let child = node.lastChild; child !== null; child = child.prevSibling) {
    if (FUNCTIONS.has(child.name)) {
      return child;
    }
  }
  return null;
}

/** The body of a function: a block or an expression. */
function lastChild(node: SyntaxNode): SyntaxNode | null {
  return node.lastChild;
}
