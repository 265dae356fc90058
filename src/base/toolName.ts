/**
 * Whether this can be the name of an agent's tool, such as `WebFetch` or `mcp__server__tool`. A rule with a pattern
 * (`Bash(git *)`), and several names in one text, are none.
 */
export function isToolName(text: string): boolean {
  return /^[A-Za-z_][\w.:-]{0,119}$/.test(text);
}
