import type { RunEvent } from './events.ts';

/** Tools of Claude Code that read or write the one file that their gist names. */
const FILE_TOOLS: ReadonlySet<string> = new Set([
  'Read',
  'Edit',
  'MultiEdit',
  'Write',
  'NotebookEdit',
]);

/** Whether an agent reads or writes a file with this call; then its gist is the path, relative to the agent's folder. */
export function usesFile({
  gist,
  name,
}: Pick<Extract<RunEvent, { type: 'agent.tool' }>, 'gist' | 'name'>): boolean {
  return FILE_TOOLS.has(name) && gist !== '' && !gist.startsWith('..') && !gist.endsWith('…');
}
