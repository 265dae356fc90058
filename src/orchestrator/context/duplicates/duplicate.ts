/** Where something is defined. */
export interface Definition {
  /** Relative to the repository's root, with forward slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Of a function, or of the file itself. */
  readonly name: string;
}

/** New code that repeats what the project had before. */
export interface Duplicate extends Definition {
  /** What is the same: the name of a function, its body, or a whole file. */
  readonly kind: 'name' | 'body' | 'file';
  readonly other: Definition;
}

/** What a search for duplicates has found. */
export interface DuplicateReport {
  /** New functions and files. */
  readonly looked: number;
  readonly duplicates: readonly Duplicate[];
}
