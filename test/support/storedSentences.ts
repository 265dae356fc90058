import type { Message } from '../../src/base/say.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { SaidWords } from '../../src/presentation/saidWords.ts';
import { bundleOf } from './translations.ts';

export function isMessage(value: object): value is Message {
  return 'key' in value && 'args' in value;
}

/** The sentences of ours that these events have as texts instead of messages, each behind its place. */
export function storedSentences(events: readonly RunEvent[]): readonly string[] {
  const old = new SaidWords(bundleOf('de'));
  return events
    .flatMap(event => [...textsIn(event, event.type)])
    .filter(([, text]) => old.in(text) !== text)
    .map(([place, text]) => `${place}: ${text}`);
}

/** The messages in a value, without those that they contain. */
export function messagesIn(value: unknown): readonly Message[] {
  return typeof value !== 'object' || value === null
    ? []
    : isMessage(value)
      ? [value]
      : Object.values(value).flatMap(messagesIn);
}

/** The texts in a value that are not the key of a message, with their places. */
function* textsIn(value: unknown, place: string): Generator<readonly [string, string]> {
  if (typeof value === 'string') {
    yield [place, value];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(isMessage(value) ? value.args : value)) {
      yield* textsIn(item, `${place}.${name}`);
    }
  }
}
