import path from 'node:path';

/** A keyword that is longer is a sentence. In UTF-16 units. */
const MAX_KEYWORD = 60;
/** Of one entry. */
const MAX_VALUES = 200;

/** The keywords of a line such as `auth, login, "sign in"`. */
export function keywordsIn(value: string): string[] {
  return value
    .split(/[,;\n]/)
    .map(word =>
      word
        .replace(/["'`*]/g, '')
        .replace(/\s+/g, ' ')
        .trim()
        .replace(/\.$/, ''),
    )
    .filter(word => word !== '' && word.length <= MAX_KEYWORD)
    .slice(0, MAX_VALUES);
}

/**
 * The paths of a line such as `src/auth/, [the model](src/user.ts), src/api/*.ts`: relative, without `./`, and a folder
 * for a pattern. Words that are no paths, addresses and absolute paths are left out.
 */
export function pathsIn(value: string): string[] {
  const paths: string[] = [];
  for (const [, code, link, bare] of value.matchAll(/`([^`\n]+)`|\]\(([^)\s]+)\)|([^\s,;`]+)/g)) {
    const found = pathOf(code ?? link ?? (bare ?? '').replace(/^[([{"']+|[)\]}"'.:]+$/g, ''));
    if (found !== undefined && !paths.includes(found)) {
      paths.push(found);
    }
  }
  return paths.slice(0, MAX_VALUES);
}

function pathOf(text: string): string | undefined {
  const plain = text.trim().replaceAll('\\', '/');
  const looksLikePath = plain.includes('/') || /\w\.[A-Za-z]\w{0,7}$/.test(plain);
  if (!looksLikePath || /^[/~]|^[A-Za-z]:|:\/\/|[\p{Cc}<>|?"]/u.test(plain)) {
    return undefined;
  }
  const fixed = plain.replace(/(?:#.*|:\d+(?:-\d+)?)$/, '');
  const star = fixed.indexOf('*');
  const exact = star === -1 ? fixed : fixed.slice(0, fixed.lastIndexOf('/', star) + 1);
  const normal = path.posix.normalize(exact);
  return normal === '.' || normal === './' || normal.startsWith('..') || exact === ''
    ? undefined
    : normal;
}

/** Whether a path is the other one, or below it. */
export function isAtOrBelow(file: string, place: string): boolean {
  const folder = place.endsWith('/') ? place : `${place}/`;
  return file === place || file.startsWith(folder) || `${file}/` === folder;
}
