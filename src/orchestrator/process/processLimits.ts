/** How long one process of an agent may take. */
export interface ProcessLimits {
  /** The whole process may take this long, in ms. */
  readonly hardMs: number;
  /** It may be silent this long, in ms. */
  readonly idleMs: number;
  /** It may be silent this long after its result, in ms, and may write for six times as long. */
  readonly resultGraceMs: number;
  /** From SIGTERM to SIGKILL, in ms. */
  readonly killGraceMs: number;
}

export const DEFAULT_LIMITS: ProcessLimits = {
  hardMs: 45 * 60_000,
  idleMs: 10 * 60_000,
  resultGraceMs: 10_000,
  killGraceMs: 5_000,
};
