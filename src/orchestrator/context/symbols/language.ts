/** A language with symbols. */
export type Language = 'cpp' | 'go' | 'java' | 'javascript' | 'php' | 'python' | 'rust';

const BY_ENDING: ReadonlyMap<string, Language> = new Map(
  Object.entries({
    cpp: ['c', 'h', 'cc', 'cpp', 'cxx', 'hh', 'hpp', 'hxx'],
    go: ['go'],
    java: ['java'],
    javascript: ['js', 'cjs', 'mjs', 'jsx', 'ts', 'cts', 'mts', 'tsx'],
    php: ['php'],
    python: ['py', 'pyi'],
    rust: ['rs'],
  }).flatMap(([language, endings]) => endings.map(ending => [ending, language as Language])),
);

/** The language of a file by its name; `undefined` for all others. */
export function languageOf(path: string): Language | undefined {
  const [, ending = ''] = /\.([a-z]+)$/i.exec(path) ?? [];
  return BY_ENDING.get(ending.toLowerCase());
}

/** The endings of files in a language, without their dots. */
export function endingsOf(language: Language): readonly string[] {
  return [...BY_ENDING].flatMap(([ending, of]) => (of === language ? [ending] : []));
}
