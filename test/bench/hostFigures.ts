/** The file that the bench inside VS Code writes its figures to. */
export const resultsVariable = 'RALPH_FRESH_BENCH_RESULTS';

/** What is measured inside the extension host. Times in ms. */
export interface HostFigures {
  /** Loading the extension's code and calling `activate`, as VS Code itself takes the time. */
  readonly activationMs: number;
  /** From asking for the activation to its end: with what VS Code does for it, beside it and in the browser. */
  readonly askedMs: number;
  /** 5,000 stories from their file to all lines of the view. */
  readonly treeMs: number;
  /** Lines of the view that one changed story draws anew. */
  readonly redrawn: number;
}
