/** Time limits for one process of an agent. */
export interface ProcessLimits {
  /** Limit for the whole process, in ms. */
  readonly hardMs: number;
  /** Limit for silence, in ms. */
  readonly idleMs: number;
  /** Limit for silence after its result, in ms; it may continue to write for six times as long. */
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
