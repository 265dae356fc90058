import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';

/** The lines below each heading, by its name. */
export type Sections = ReadonlyMap<string, readonly string[]>;

/** The sections of a TOML or INI file: their names, and the lines below them. */
export function sectionsOf(text: string): Sections {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of linesOf(text)) {
    const [, heading] = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:[#;].*)?$/.exec(line) ?? [];
    if (heading === undefined) {
      lines.push(line);
    } else {
      lines = [];
      sections.set(heading.replaceAll(/["'\s]/g, ''), lines);
    }
  }
  return sections;
}

/** Lines, with any line ending. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** JSON as written by tools and people: comments are allowed. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    // Only such files need the library.
    return parseWithComments(text);
  }
}

function parseWithComments(text: string): unknown {
  try {
    return parseJsonc(text, [], { allowTrailingComma: true });
  } catch {
    // Nested too deeply for the parser's stack: not a build file.
    return undefined;
  }
}

/** @returns `undefined` for invalid YAML */
export function parseYamlText(text: string): unknown {
  try {
    return parseYaml(text, { logLevel: 'silent' });
  } catch {
    // Its own tool will report the error.
    return undefined;
  }
}

/** @returns an empty object for anything else */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
