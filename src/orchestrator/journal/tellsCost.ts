/**
 * Whether an agent tells what its calls cost, by its name in the journal. Another program prints plain text, so nobody
 * knows what it costs; the demo agent costs nothing.
 */
export function tellsCost(agent: string): boolean {
  return agent !== 'command';
}
