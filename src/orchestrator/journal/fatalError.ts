/** Kinds of errors that another iteration cannot fix, and that say nothing about the story. */
const FATAL_KINDS: ReadonlySet<string> = new Set([
  'billing',
  'authentication',
  'notStarted',
  // The run is configured not to wait for the reset, or a person ended the wait.
  'usageLimit',
]);

/** Whether a failed call ends the run because another call would fail in the same way. */
export function isFatalError({ kind }: { readonly kind: string }): boolean {
  return FATAL_KINDS.has(kind);
}
