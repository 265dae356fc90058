/** Takes text as it is printed. */
type Print = (text: string) => void;

/**
 * What suites print that run at the same time, as if they had run one after another: the first that has not ended
 * prints at once, the others wait for their turn.
 */
export class SuiteOutput {
  private readonly print: Print;
  /** Those that have not had their turn to the end, in order. */
  private readonly waiting: { readonly name: string; text: string; hasEnded: boolean }[];

  constructor(names: readonly string[], print: Print) {
    this.print = print;
    this.waiting = names.map(name => ({ name, text: '', hasEnded: false }));
  }

  /** What prints for this suite. */
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

  /** Prints what waits, in order; for the end of an interrupted run. */
  flush(): void {
    for (const suite of this.waiting) {
      this.print(suite.text);
      suite.text = '';
    }
  }
}
