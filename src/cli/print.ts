import { styleText } from 'node:util';
import type { RunEvent } from '../orchestrator/run/events.ts';
import { english } from '../presentation/sentences.ts';
import { describeEvent, type Style } from '../presentation/transcript.ts';

const ANSI: Readonly<Record<Style, Parameters<typeof styleText>[0] | undefined>> = {
  plain: undefined,
  heading: 'bold',
  dim: 'dim',
  tool: 'cyan',
  success: 'green',
  warning: 'yellow',
  error: 'red',
};

/** Prints what a person reads of an event, if anything. */
export function printEvent(event: RunEvent): void {
  for (const { style, text } of describeEvent(event, english)) {
    const format = ANSI[style];
    print(
      format === undefined || text === ''
        ? text
        : styleText(format, text, { stream: process.stdout }),
    );
  }
}

/** Prints one line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
