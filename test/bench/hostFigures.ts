/** The variable with the file that the benchmark inside VS Code writes its results to. */
export const resultsVariable = 'RALPH_FRESH_BENCH_RESULTS';

/** The measurements inside the extension host. Times in ms. */
export interface HostFigures {
  /** Loading the extension's code and calling `activate`, as measured by VS Code itself. */
  readonly activationMs: number;
  /**
   * From the request for activation to its end, including what VS Code does for it, in parallel and in the browser.
   */
  readonly askedMs: number;
  /** From the file with 5,000 stories to all lines of the view. */
  readonly treeMs: number;
  /** Number of lines of the view that are redrawn for one changed story. */
  readonly redrawn: number;
}
