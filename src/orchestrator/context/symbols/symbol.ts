/** What a symbol is. Methods belong to a class, a type or an object. */
export type SymbolKind = 'function' | 'method' | 'class' | 'type' | 'constant';

/** Something with a name that a source file defines; nothing inside of a function. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: SymbolKind;
  /** One line without the body, at most 160 UTF-16 units. */
  readonly signature: string;
  /** From 1. */
  readonly line: number;
  /** The line of its end, from 1. */
  readonly endLine: number;
  /** The range of its body in the text, in UTF-16 units; empty if it has none. */
  readonly body: { readonly from: number; readonly to: number };
  /** Whether other files can use it; absent if the language does not say so at its definition. */
  readonly isExported?: boolean;
}
