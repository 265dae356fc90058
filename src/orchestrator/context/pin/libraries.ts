import { languageOf } from '../symbols/language.ts';

/** Where a language names what it imports; the first group is the name. */
const IMPORTS: Readonly<Record<string, RegExp>> = {
  javascript: /(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"\n]{1,80})['"]/g,
  python: /^[ \t]*(?:from|import)[ \t]+([A-Za-z]\w{0,40})/gm,
  go: /"((?:[\w-]+\.)+[\w-]+\/[\w./-]{1,80})"/g,
  rust: /^[ \t]*(?:pub[ \t]+)?use[ \t]+([a-z_]\w{0,40})::/gm,
  java: /^import[ \t]+(?:static[ \t]+)?([a-z][\w.]{1,100})/gm,
  php: /^use[ \t]+([A-Z]\w{1,40})\\/gm,
};
/** They come with the language, and say nothing about a part of the code. */
const COMMON = new Set(
  'os sys re typing json logging collections functools itertools pathlib dataclasses enum abc time datetime __future__ std core alloc crate self super java javax kotlin node'.split(
    ' ',
  ),
);

/**
 * The libraries that a source file imports, as their packages are called; parts of the project itself as far as they
 * cannot be mistaken. Never fails.
 * @param isOwn whether a folder or file of the project has this name
 */
export function librariesIn(
  path: string,
  text: string,
  isOwn: (name: string) => boolean,
): Set<string> {
  const language = languageOf(path) ?? '';
  const found = new Set<string>();
  for (const [, name = ''] of text.matchAll(IMPORTS[language] ?? /(?!)/g)) {
    const library = packageOf(language, name);
    if (library !== '' && !COMMON.has(library) && !isOwn(library)) {
      found.add(library);
    }
  }
  return found;
}

function packageOf(language: string, name: string): string {
  const parts = name.split(/[/.]/);
  switch (language) {
    case 'javascript': {
      const [, own = ''] = /^((?:@[\w.-]+\/)?[A-Za-z][\w.-]*)(?:\/|$)/.exec(name) ?? [];
      return name.startsWith('node:') ? '' : own;
    }
    case 'go':
      return (
        name
          .replace(/\/v\d+$/, '')
          .split('/')
          .at(-1) ?? ''
      );
    case 'java':
      // com.google.gson.Gson, org.junit.Test
      return (
        (parts[0] === 'com'
          ? parts[2]
          : ['org', 'io', 'net'].includes(parts[0] ?? '')
            ? parts[1]
            : parts[0]) ?? ''
      );
    default:
      return parts[0] ?? '';
  }
}
