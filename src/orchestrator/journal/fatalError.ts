/** Kinds of errors that no other iteration can mend, and that say nothing about the story they came with. */
const FATAL_KINDS: ReadonlySet<string> = new Set([
  'billing',
  'authentication',
  'notStarted',
  // The run is not to wait for the reset, or was told to stop waiting.
  'usageLimit',
]);

/** Whether a call that failed so ends the run, since another one would fail in the same way. */
export function isFatalError({ kind }: { readonly kind: string }): boolean {
  return FATAL_KINDS.has(kind);
}
