import type { Style, TranscriptLine } from '../../presentation/transcriptLine.ts';
import { wrapLine } from '../../presentation/wrapLine.ts';

const RESET = '\x1b[0m';
const BOLD = '\x1b[1m';
const CYAN = '\x1b[36m';
/** Whole screen and what has scrolled out of it; the cursor to the first place. */
export const CLEAR = '\x1b[2J\x1b[3J\x1b[H';
/** The terminal's own palette, so that every theme decides what they look like. */
const SGR: Readonly<Record<Style, string>> = {
  plain: '',
  heading: BOLD,
  // A colour, and not the faint of a terminal: that is half of the contrast that VS Code else sees to.
  dim: '\x1b[90m',
  tool: '',
  success: '\x1b[32m',
  warning: '\x1b[33m',
  error: '\x1b[31m',
};
/** Lines that are written again when the terminal gets another width; older ones are in the transcripts. */
const MAX_LINES = 5_000;

/** What stands in a run's terminal: lines without control characters, wrapped for its width. Pure. */
export class TerminalScreen {
  private lines: TranscriptLine[] = [];
  private columns: number | undefined;

  /** @returns what is to be written to the terminal */
  add(lines: readonly TranscriptLine[]): string {
    this.lines.push(...lines);
    if (this.lines.length > 2 * MAX_LINES) {
      this.lines = this.lines.slice(-MAX_LINES);
    }
    return lines.map(line => written(line, this.columns)).join('');
  }

  /** @returns whether what stands there is to be written anew */
  resize(columns: number | undefined): boolean {
    const isOther = columns !== this.columns;
    this.columns = columns;
    return isOther && this.lines.length > 0;
  }

  /** Everything anew, for the width it has now. */
  redraw(): string {
    this.lines = this.lines.slice(-MAX_LINES);
    return CLEAR + this.lines.map(line => written(line, this.columns)).join('');
  }
}

/** Escape sequences are put around whole lines after they are wrapped, so none is broken. */
function written({ style, text }: TranscriptLine, columns: number | undefined): string {
  return wrapLine(text, columns)
    .map((line, at) => {
      const look = style === 'tool' && at === 0 ? toolCall(line) : SGR[style] + line;
      return `${look}${look === line ? '' : RESET}\r\n`;
    })
    .join('');
}

/** `● Edit(src/todo.js)`: the sign in colour, the name bold, what it works on as it is. */
function toolCall(line: string): string {
  const [, sign = '', name = '', rest = ''] = /^(● )?([^(]*)(.*)$/.exec(line) ?? [];
  return `${CYAN}${sign}${RESET}${BOLD}${name}${RESET}${rest}`;
}
