import { styleText } from 'node:util';
import { englishOf, type Words } from '../base/say.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { Transcript } from '../presentation/transcript.ts';
import type { Style } from '../presentation/transcriptLine.ts';
import { english } from '../presentation/translate.ts';

/** In UTF-16 units. */
const MAX_WARNING = 2_000;

const ANSI: Readonly<Record<Style, Parameters<typeof styleText>[0] | undefined>> = {
  plain: undefined,
  heading: 'bold',
  dim: 'dim',
  tool: 'cyan',
  success: 'green',
  warning: 'yellow',
  error: 'red',
};

interface EventPrinting {
  /** Events that it rejects are not printed; sentences of later events may still need them. */
  readonly isShown?: (event: RunEvent) => boolean;
  readonly stream?: NodeJS.WriteStream;
  /** The earlier state of a run that continues. */
  readonly earlier?: RunState | undefined;
  /** Only events of one story, or one iteration, are printed. */
  readonly isOfOneStory?: boolean;
}

/** Prints the readable form of one run's events, if they have any. */
export function eventPrinter({
  earlier,
  isOfOneStory,
  isShown = () => true,
  stream = process.stdout,
}: EventPrinting = {}): (event: RunEvent) => void {
  const transcript = new Transcript(english, 'terminal', { earlier, isOfOneStory, isShown });
  return event => {
    for (const { style, text } of transcript.describe(event)) {
      const format = ANSI[style];
      const line = format === undefined || text === '' ? text : styleText(format, text, { stream });
      stream.write(`${line}\n`);
    }
  };
}

/**
 * Prints one or more lines to standard output, without what a terminal would interpret: texts of any origin may be in
 * them, also names of files and branches.
 */
export function print(text: string): void {
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Like {@link print}, to standard error: what is not the result of the command, which a program may read. */
export function printAside(text: string): void {
  process.stderr.write(`${withoutControls(text)}\n`);
}

/** Says something that a person should know, although the command has done its work. */
export function tell(text: string): void {
  printAside(`ralph-fresh: ${text}`);
}

/** {@link tell}, shortened. */
export function tellWarning(warning: Words): void {
  tell(shorten(englishOf(warning), MAX_WARNING));
}

/** Says below a draft how to get it into its file. */
export function tellUnwritten(storyFile: string): void {
  printAside(
    `This is a draft; nothing is written yet. Save it as ${storyFile}, or add --write to the command, which asks the agent again and writes its answer.`,
  );
}

/** Control characters and direction marks that JSON keeps, but a terminal would interpret. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Prints data for other programs, safe in a terminal too: the data may contain texts of any origin.
 * @param indent 0 prints it on one line
 */
export function printJson(data: unknown, indent = 2): void {
  printJsonText(JSON.stringify(data, null, indent));
}

/** Prints the text of a JSON file, safe in a terminal too. */
export function printJsonText(json: string): void {
  print(json.replace(UNSAFE, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));
}
