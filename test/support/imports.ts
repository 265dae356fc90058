import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The folder of our sources. */
export const src = path.resolve(import.meta.dirname, '../../src');

/** TypeScript files below a folder, relative to `src`, with forward slashes. */
export async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(src, folder), { recursive: true, withFileTypes: true });
  return (
    entries
      .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map(entry => path.relative(src, path.join(entry.parentPath, entry.name)))
      .map(file => file.split(path.sep).join('/'))
      // The files that the demo agent writes into the sample project are only text for us.
      .filter(file => !file.startsWith('orchestrator/agents/demo/work/'))
  );
}

/** Everything a file imports: our own files as paths relative to `src`, others by name. */
export async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(path.join(src, file), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\(\s*['"`]([^'"`]+)['"`]|\brequire\(\s*['"`]([^'"`]+)['"`]/g,
  );
  return [...found]
    .map(([, ...names]) => names.find(name => name !== undefined) ?? '')
    .map(name => (name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name));
}

/** A file, and the target of one of its imports. */
export interface Import {
  readonly file: string;
  readonly imported: string;
}

/** The imports of some files, including types. */
export async function allImports(files: readonly string[]): Promise<Import[]> {
  const lists = await Promise.all(
    files.map(async file => (await importsOf(file)).map(imported => ({ file, imported }))),
  );
  return lists.flat();
}

/** The imports that are not allowed, as sentences. */
export const offending = (imports: readonly Import[], isAllowed: (imported: string) => boolean) =>
  imports
    .filter(({ imported }) => !isAllowed(imported))
    .map(({ file, imported }) => `${file} imports ${imported}`);
