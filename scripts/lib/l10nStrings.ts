import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SAID } from '../../src/presentation/saidWords.ts';

/** The languages that the product supports, besides English. */
export const LANGUAGES = ['de', 'ja'] as const;
export type Language = (typeof LANGUAGES)[number];

type Texts = Readonly<Record<string, string>>;

/** A kind of texts: the English ones by their keys, and the files of the translations. */
export interface TextKind {
  readonly english: Texts;
  /** Relative to the root of the project. */
  readonly fileOf: (language: Language) => string;
}

/**
 * Every text of the extension that people read: those in the code, which are their own keys, the sentences of the loop
 * (see `say.ts`), those of the manifest, and those of the schema of story files.
 * @param root the project's folder
 * @throws with file and line if a text is not a literal, and so cannot be translated
 */
export function textKinds(root: string): readonly TextKind[] {
  const found = textsOf(
    root,
    ['src/extension.ts', 'src/views/**/*.ts', 'src/presentation/**/*.ts'],
    't',
  );
  const said = textsOf(
    root,
    ['src/base/**/*.ts', 'src/orchestrator/**/*.ts', 'src/cli/**/*.ts'],
    'say',
  );
  return [
    {
      english: Object.fromEntries([
        ...found.map(text => [text, text]),
        ...said.map(text => [`${text}${SAID}`, text]),
      ]),
      fileOf: language => `l10n/bundle.l10n.${language}.json`,
    },
    {
      english: readTexts(root, 'package.nls.json'),
      fileOf: language => `package.nls.${language}.json`,
    },
    {
      english: Object.fromEntries(
        textsOf(
          root,
          ['prdSchema', 'orchestrationSchema', 'ralphySchema', 'schemaParts'].map(
            name => `scripts/lib/${name}.ts`,
          ),
          't',
        ).map(text => [text, text]),
      ),
      fileOf: schemaTexts,
    },
  ];
}

/** The file with the translations of the schema's texts; `npm run schema` reads it, VS Code does not. */
export function schemaTexts(language: Language): string {
  return `l10n/schema.l10n.${language}.json`;
}

function textsOf(root: string, patterns: readonly string[], name: 't' | 'say'): string[] {
  return (
    globSync(patterns, { cwd: root })
      .map(file => file.split(path.sep).join('/'))
      .sort()
      .map(file => ({ file, source: readFileSync(path.join(root, file), 'utf8') }))
      // The demo agent has methods with that name.
      .filter(({ source }) => name === 't' || source.includes("/say.ts';"))
      .flatMap(({ file, source }) => translatedTexts(source, file, name))
  );
}

/** @returns an empty object if the file does not exist yet */
export function readTexts(root: string, file: string): Texts {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Texts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return {};
    }
    throw error;
  }
}

/** Problems of the translations of one kind of texts into one language, one per line. */
export function problemsOf({ english }: TextKind, translated: Texts): string[] {
  const missing = Object.keys(english).filter(key => !(key in translated));
  const obsolete = Object.keys(translated).filter(key => !(key in english));
  const unequal = Object.keys(english).filter(key => {
    const text = translated[key];
    return (
      text !== undefined && (text.trim() === '' || marksOf(text) !== marksOf(english[key] ?? ''))
    );
  });
  return [
    ...missing.map(key => `missing: ${JSON.stringify(key)}: ${JSON.stringify(english[key])}`),
    ...obsolete.map(key => `not used: ${JSON.stringify(key)}`),
    ...unequal.map(key => `other places or links than in English: ${JSON.stringify(key)}`),
  ];
}

/**
 * Marks that a translation must contain, too: placeholders, links, settings, buttons (a link alone on its line), code.
 */
function marksOf(text: string): string {
  const marks = [...text.matchAll(/\{\d+\}|\]\([^)]*\)|`[^`]*`|\$\([^)]*\)/g)].map(
    ([mark]) => mark,
  );
  const buttons = [...text.matchAll(/^\[[^\]]*\]\([^)]*\)$/gm)].length;
  return [...marks.sort(), buttons].join('\n');
}

/**
 * The first arguments of all calls of `l10n.t` and `t`, or of `say`, in a source file.
 * @throws an error with the position if one is not a single string literal
 */
export function translatedTexts(source: string, file: string, name: 't' | 'say' = 't'): string[] {
  const code = codeOnly(source);
  const call =
    name === 't' ? /(?<![\w$.]|function )(?:l10n\.)?t\(\s*/g : /(?<![\w$.]|function )say\(\s*/g;
  return [...code.matchAll(call)].map(({ 0: begin, index }) => {
    const rest = source.slice(index + begin.length);
    const [, literal] =
      /^('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)\s*[,)]/s.exec(rest) ?? [];
    if (literal === undefined) {
      const line = source.slice(0, index).split('\n').length;
      throw new Error(
        `${file}:${line}: the first argument of ${name}(…) must be one string literal.`,
      );
    }
    return textOf(literal);
  });
}

/** A text in code: a string, or the text of a template with `…` for each placeholder. */
export interface Literal {
  readonly index: number;
  readonly text: string;
}

/** All texts in a source file, in the order of their ends. */
export function literalsIn(source: string): readonly Literal[] {
  const found: Literal[] = [];
  codeOnly(source, literal => found.push(literal));
  return found;
}

/** The source, with `#` in place of comments, strings, regular expressions and the text of templates. */
function codeOnly(source: string, onLiteral: (literal: Literal) => void = () => {}): string {
  const part =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[`{}]/gs;
  let code = '';
  let from = 0;
  /** For each open brace, whether closing it continues a template. */
  const braces: boolean[] = [];
  /** The open templates, the innermost last. */
  const templates: { index: number; text: string }[] = [];
  for (let found = part.exec(source); found !== null; found = part.exec(source)) {
    const [token] = found;
    code += source.slice(from, found.index);
    from = part.lastIndex;
    if (token === '{') {
      braces.push(false);
      code += token;
    } else if (token === '`' || (token === '}' && braces.pop() === true)) {
      const text = /(?:[^`\\$]|\\.|\$(?!\{))*(?:\$\{|`)?/sy;
      text.lastIndex = from;
      const words = text.exec(source)?.[0] ?? '';
      from += words.length;
      part.lastIndex = from;
      const template = (token === '`' ? undefined : templates.pop()) ?? {
        index: found.index,
        text: '',
      };
      if (words.endsWith('${')) {
        braces.push(true);
        templates.push({ index: template.index, text: `${template.text}${words.slice(0, -2)}…` });
      } else {
        onLiteral({ index: template.index, text: template.text + words.slice(0, -1) });
      }
      code += '#'.repeat(1 + words.length);
    } else {
      if (/^['"]/.test(token)) {
        onLiteral({ index: found.index, text: textOf(token) });
      }
      code += token === '}' ? token : '#'.repeat(token.length);
    }
  }
  return code + source.slice(from);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function textOf(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\(.)/gs, (_, code?: string, char = '') =>
      code === undefined
        ? (ESCAPES[char] ?? char)
        : String.fromCodePoint(Number.parseInt(code, 16)),
    );
}
