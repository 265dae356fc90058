import { codeWords } from '../codeWords.ts';
import { canBeNamed } from '../sourceFile.ts';

/** A specification of the project. */
export interface SpecDocument {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  /** Paths that it names, without a slash at the end. */
  readonly mentions: ReadonlySet<string>;
}

export function specDocument(path: string, text: string): SpecDocument {
  return { path, mentions: mentionsIn(text) };
}

const SPEC = /(?:^|\/)specs?\/(?:.*\/)?([^/]+)\.md$/i;
const FOREIGN = /(?:^|\/)(?:node_modules|vendor|third_party|dist|\.omc)\//;
/** Of one part of the code. */
const MAX_SPECS = 3;

/** Whether a path is that of a specification, and not of a list of them. */
export function isSpecPath(path: string): boolean {
  const [, name = ''] = SPEC.exec(path) ?? [];
  return (
    name !== '' && !/^(?:index|readme)$/i.test(name) && !FOREIGN.test(path) && canBeNamed(path)
  );
}

/**
 * The specifications of a part of the code: first those that name its folders or files, then those that are called
 * like it. Pure.
 * @param places paths of its folders and files
 */
export function specsOf(
  specs: readonly SpecDocument[],
  places: readonly string[],
  name: string,
): string[] {
  const words = new Set(codeWords(name));
  return specs
    .map(({ mentions, path }) => {
      const [, base = ''] = SPEC.exec(path) ?? [];
      const own = codeWords(base);
      const isNamed = own.length > 0 && own.every(word => words.has(word));
      const isAbout = places.some(place => mentions.has(place.replace(/\/$/, '')));
      return { path, score: (isAbout ? 2 : 0) + Number(isNamed) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_SPECS)
    .map(({ path }) => path);
}

/** The paths that a text names, and the folders that these are directly in. */
function mentionsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [token] of text.matchAll(/[\w@.-]+(?:\/[\w@.()[\]-]+)+/g)) {
    const path = token.replace(/^\.\/|[.\])]+$/g, '');
    found.add(path);
    if (path.includes('/', path.indexOf('/') + 1)) {
      found.add(path.slice(0, path.lastIndexOf('/')));
    }
  }
  return found;
}
