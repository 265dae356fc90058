import { storyPrefixIn } from '../../presentation/storyPrefix.ts';
import { subagentPrefixIn } from '../../presentation/subagentLines.ts';
import type { Style, TranscriptLine } from '../../presentation/transcriptLine.ts';
import { wrapLine } from '../../presentation/wrapLine.ts';
import { laneColor } from './laneColor.ts';

const RESET = '\x1b[0m';
const BOLD = '\x1b[1m';
const CYAN = '\x1b[36m';
/** Clears screen and scrollback, and moves the cursor to the top left. */
export const CLEAR = '\x1b[2J\x1b[3J\x1b[H';
/** The terminal's own palette, so that every theme determines the colors. */
const SGR: Readonly<Record<Style, string>> = {
  plain: '',
  heading: BOLD,
  // A color instead of the terminal's faint attribute, which halves the contrast that VS Code otherwise ensures.
  dim: '\x1b[90m',
  tool: '',
  success: '\x1b[32m',
  warning: '\x1b[33m',
  error: '\x1b[31m',
};
/** Lines that are written again when the terminal's width changes. */
const MAX_LINES = 5_000;

/** The content of a run's terminal: lines without control characters, wrapped to its width. Pure. */
export class TerminalScreen {
  private readonly leftOut: TranscriptLine;
  private lines: TranscriptLine[] = [];
  private isCut = false;
  private columns: number | undefined;

  /** @param leftOut says that lines above it are no longer there */
  constructor(leftOut: TranscriptLine) {
    this.leftOut = leftOut;
  }

  /** @param described may have several rows each @returns the text to write to the terminal */
  add(described: readonly TranscriptLine[]): string {
    const lines = described.flatMap(line =>
      line.text.split('\n').map(text => ({ ...line, text: text.replaceAll('\t', '  ') })),
    );
    this.lines.push(...lines);
    if (this.lines.length > 2 * MAX_LINES) {
      this.cut();
    }
    return lines.map(line => written(line, this.columns)).join('');
  }

  /** Forgets the content. @returns the text to write to the terminal */
  clear(): string {
    this.lines = [];
    this.isCut = false;
    return CLEAR;
  }

  /** @returns whether the content has to be written again */
  resize(columns: number | undefined): boolean {
    const isOther = columns !== this.columns;
    this.columns = columns;
    return isOther && this.lines.length > 0;
  }

  /** The whole content, wrapped to the current width. */
  redraw(): string {
    this.cut();
    const lines = this.isCut ? [this.leftOut, ...this.lines] : this.lines;
    return CLEAR + lines.map(line => written(line, this.columns)).join('');
  }

  private cut(): void {
    this.isCut ||= this.lines.length > MAX_LINES;
    this.lines = this.lines.slice(-MAX_LINES);
  }
}

/** Escape sequences are put around whole lines after wrapping, so none is broken. */
function written({ lane, style, text }: TranscriptLine, columns: number | undefined): string {
  return wrapLine(text, columns)
    .map((line, at) => {
      const story = storyPrefixIn(line);
      const subagent = subagentPrefixIn(line.slice(story.length));
      const rest = line.slice(story.length + subagent.length);
      const look = style === 'tool' && at === 0 ? toolCall(rest) : SGR[style] + rest;
      const whose =
        looking(story, lane === undefined ? SGR.dim : laneColor(lane)) + looking(subagent, SGR.dim);
      return `${whose}${look}${look === rest ? '' : RESET}\r\n`;
    })
    .join('');
}

function looking(text: string, look: string): string {
  return text === '' ? '' : `${look}${text}${RESET}`;
}

/** `● Edit(src/todo.js)`: the sign in color, the name bold, the argument plain. */
function toolCall(line: string): string {
  const [, sign = '', name = '', rest = ''] = /^(\u25cf )?([^(]*)(.*)$/.exec(line) ?? [];
  return `${CYAN}${sign}${RESET}${BOLD}${name}${RESET}${rest}`;
}
