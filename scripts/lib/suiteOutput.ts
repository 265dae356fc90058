/** Prints a text. */
type Print = (text: string) => void;

/**
 * Prints the output of parallel suites as if they had run one after another: the first one that has not ended prints at
 * once, the others wait for their turn.
 */
export class SuiteOutput {
  private readonly print: Print;
  /** The suites that have not been printed completely, in order. */
  private readonly waiting: { readonly name: string; text: string; hasEnded: boolean }[];

  constructor(names: readonly string[], print: Print) {
    this.print = print;
    this.waiting = names.map(name => ({ name, text: '', hasEnded: false }));
  }

  /** The print function of this suite. */
  of(name: string): Print {
    const suite = this.waiting.find(one => one.name === name);
    return text => {
      if (suite === undefined || suite === this.waiting[0]) {
        this.print(text);
      } else {
        suite.text += text;
      }
    };
  }

  /** The suite prints nothing more. */
  end(name: string): void {
    const ended = this.waiting.find(one => one.name === name);
    if (ended !== undefined) {
      ended.hasEnded = true;
    }
    while (this.waiting[0]?.hasEnded === true) {
      this.waiting.shift();
      const next = this.waiting[0];
      if (next !== undefined) {
        this.print(next.text);
        next.text = '';
      }
    }
  }

  /** Prints all pending output, in order; for the end of an interrupted run. */
  flush(): void {
    for (const suite of this.waiting) {
      this.print(suite.text);
      suite.text = '';
    }
  }
}
