/** What an agent does now, in a few kinds: a list of agents must not change with each of their tool calls. */
export type Doing = 'tests' | 'commands' | 'edits' | 'reads' | 'web';

const TOOLS: ReadonlyMap<string, Doing> = new Map([
  ...['Edit', 'MultiEdit', 'NotebookEdit', 'Write'].map(name => [name, 'edits'] as const),
  ...['Glob', 'Grep', 'LS', 'Read'].map(name => [name, 'reads'] as const),
  ...['WebFetch', 'WebSearch'].map(name => [name, 'web'] as const),
]);

/** A word of a command line, such as `npm test`, `pytest -q` or `./run-tests.sh`. */
const TESTS =
  /(?<![a-z])(?:tests?|pytest|unittest|vitest|jest|mocha|playwright|cypress|rspec|phpunit|ctest|tox|nox)(?![a-z])/i;

/**
 * What an agent does, from its latest activity: a tool's name and a summary of the call, or a line of its text. Pure.
 * @returns `undefined` for text, and for tools that say nothing about it
 */
export function doingOf(activity: string | undefined): Doing | undefined {
  const [, tool = '', rest = ''] = /^([A-Z][A-Za-z]*)(?: ([^\n]*))?/.exec(activity ?? '') ?? [];
  return tool === 'Bash' ? (TESTS.test(rest) ? 'tests' : 'commands') : TOOLS.get(tool);
}
