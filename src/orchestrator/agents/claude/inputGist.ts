import type { Fields } from '../jsonFields.ts';
import { gistOf } from './streamJsonTexts.ts';

/** Inputs that summarize a tool call in one line, best first. */
const gistInputs = ['command', 'pattern', 'url', 'query', 'description', 'skill', 'prompt'];
const pathInputs = ['file_path', 'notebook_path'];

/** The input of a tool call, in one line. @param cwd the agent's working directory; '' if not known */
export function gistOfInput(input: Readonly<Record<string, unknown>>, cwd: string): string {
  for (const name of pathInputs) {
    const value = input[name];
    if (typeof value === 'string') return gistOf(relativePath(value, cwd));
  }
  for (const name of gistInputs) {
    const value = input[name];
    if (typeof value === 'string') return gistOf(value);
  }
  const { path } = input as Fields<'path'>;
  return typeof path === 'string' ? gistOf(relativePath(path, cwd)) : '';
}

function relativePath(file: string, cwd: string): string {
  const inside = cwd !== '' && file.startsWith(cwd);
  const separator = file.charAt(cwd.length);
  return inside && (separator === '/' || separator === '\\') ? file.slice(cwd.length + 1) : file;
}
