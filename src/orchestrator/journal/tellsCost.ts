/**
 * Whether an agent, given by its name in the journal, reports what its calls cost. Other programs print plain text,
 * so their cost is unknown; the demo agent costs nothing.
 */
export function tellsCost(agent: string): boolean {
  return agent !== 'command';
}
