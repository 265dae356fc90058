import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorOutput, takeAsksForData } from '../../src/base/errorOutput.ts';
import { HumanError } from '../../src/base/humanError.ts';
import { saidOf } from '../../src/base/messageOf.ts';
import { distinct, englishOf, say, sentences, withTexts } from '../../src/base/say.ts';
import { shorten, withoutControls } from '../../src/base/text.ts';
import { parseRunEvent, type RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { wordsSchema } from '../../src/orchestrator/journal/words.ts';
import { errorIn } from '../../src/orchestrator/workspace/errorIn.ts';
import { runEnd } from '../../src/presentation/runEnd.ts';
import { outcomeSentence } from '../../src/presentation/sentences.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { everyEvent } from '../support/everyEvent.ts';
import { recorded, recordedNames } from '../support/recordedJournals.ts';
import { isMessage, messagesIn, storedSentences } from '../support/storedSentences.ts';
import { translationInto } from '../support/translations.ts';

const german = translationInto('de');
const NO_JSON = say('The answer contains no JSON object.');
const LINE = say('Line {0}: {1}', 2, NO_JSON);

/** The value as older versions stored it: sentences of ours are English texts. */
function asBefore(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(asBefore);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return isMessage(value)
    ? englishOf(value)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asBefore(item)]));
}

function inGerman(events: readonly RunEvent[]): readonly string[] {
  const transcript = new Transcript(german, 'window');
  return events.flatMap(event => transcript.describe(event).map(({ text }) => text));
}

describe('a message', () => {
  test('is an English text with values, which can be messages themselves', () => {
    assert.equal(englishOf(LINE), 'Line 2: The answer contains no JSON object.');
    assert.equal(englishOf('a text {0}'), 'a text {0}');
    assert.equal(englishOf(sentences([LINE, 'It said: no.'])), `${englishOf(LINE)} It said: no.`);
    assert.equal(englishOf(say('{0} {1} {0}', 'a{1}')), 'a{1} {1} a{1}');
  });

  test('has a text of limited length, whatever a file contains', () => {
    let message = say('{0}'.repeat(1_000), 'word');
    for (let depth = 0; depth < 10; depth += 1) {
      message = say('{0}'.repeat(1_000), message);
    }
    assert.ok(englishOf(message).length < 1_000_000);
  });

  test('keeps its sentence when its values are shortened', () => {
    const long = say('{0}: {1}', 'x'.repeat(100), say('Line {0}: {1}', 3, 'y'.repeat(100)));
    const short = withTexts(long, text => shorten(text, 10));
    assert.equal(englishOf(short), `${'x'.repeat(9)}…: Line 3: ${'y'.repeat(9)}…`);
    assert.deepEqual(distinct([LINE, say('Line {0}: {1}', 2, NO_JSON), NO_JSON]), [LINE, NO_JSON]);
  });

  test('is translated with nested messages, while texts of others stay unchanged', () => {
    assert.equal(german.said(LINE), 'Zeile 2: Die Antwort enthält kein JSON-Objekt.');
    assert.equal(
      german.said(say('Line {0}: {1}', 2, englishOf(NO_JSON))),
      `Zeile 2: ${englishOf(NO_JSON)}`,
    );
    assert.equal(
      german.said(sentences([NO_JSON, say('A sentence of a later version: {0}', LINE)])),
      `Die Antwort enthält kein JSON-Objekt. A sentence of a later version: ${german.said(LINE)}`,
    );
  });

  test('is the text of an error for people', () => {
    const error = new HumanError(LINE);
    assert.equal(error.message, englishOf(LINE));
    assert.deepEqual([error.said, saidOf(error)], [LINE, LINE]);
    assert.equal(german.said(new HumanError(englishOf(NO_JSON)).said), englishOf(NO_JSON));
    assert.equal(saidOf(new Error('git said no')), 'git said no');
  });

  test('is read from a file up to a safe depth', () => {
    const words = wordsSchema();
    for (const good of ['text', LINE, sentences([LINE, 'b'])]) {
      assert.deepEqual(words.parse(JSON.parse(JSON.stringify(good))), good);
    }
    let deep = NO_JSON;
    for (let depth = 0; depth < 50; depth += 1) {
      deep = say('{0}', deep);
    }
    for (const bad of [deep, { key: 'a' }, { key: 'a', args: [null] }, { args: [] }, 7, null]) {
      assert.equal(words.safeParse(bad).success, false, JSON.stringify(bad).slice(0, 60));
    }
  });
});

describe('the error of another of our processes', () => {
  const clean = withoutControls;

  test('is English in its output, followed by the message as data on request', () => {
    const env: NodeJS.ProcessEnv = { RALPH_FRESH_ERRORS: 'json', PATH: '/bin' };
    assert.equal(takeAsksForData(env), true);
    assert.deepEqual(env, { PATH: '/bin' });
    assert.equal(takeAsksForData(env), false);
    const asText = errorOutput(LINE, { asData: false, clean });
    assert.equal(asText, `ralph-fresh: ${englishOf(LINE)}\n`);
    const output = errorOutput(LINE, { asData: true, clean });
    assert.ok(output.startsWith(asText));
    assert.deepEqual(errorIn(output), LINE);
  });

  test('is read together with the output before it', () => {
    const output = `(node:12) Warning: something\n${errorOutput(LINE, { asData: true, clean })}`;
    assert.equal(
      german.said(errorIn(output)),
      `(node:12) Warning: something\n${german.said(LINE)}`,
    );
  });

  test('is read as plain text otherwise', () => {
    assert.equal(errorIn('ralph-fresh: no\n'), 'no');
    assert.equal(errorIn('error: unknown option\n'), 'error: unknown option');
    assert.equal(errorIn(' \n'), '');
    assert.equal(errorIn('ralph-fresh-error: {"key":'), 'ralph-fresh-error: {"key":');
  });
});

describe('the journal', () => {
  test('of a real run stores our sentences as messages, not as text', () => {
    for (const name of recordedNames()) {
      assert.deepEqual(storedSentences(recorded(name)), [], name);
    }
    const messages = recordedNames().flatMap(name => messagesIn(recorded(name)));
    assert.ok(messages.length >= 10, `${messages.length}`);
  });

  test('with one of our sentences as text is detected', () => {
    const [event] = events([{ type: 'warning', code: 'gitUnreadable', detail: englishOf(LINE) }]);
    assert.deepEqual(storedSentences(event ? [event] : []), [`warning.detail: ${englishOf(LINE)}`]);
  });

  test('of an older version with English texts gives the same output', () => {
    const journals = [...recordedNames().map(name => recorded(name)), events(everyEvent('7'))];
    let changed = 0;
    for (const now of journals) {
      const before = now.map(event => parseRunEvent(JSON.stringify(asBefore(event))));
      assert.ok(before.every(event => event !== undefined));
      changed += JSON.stringify(before) === JSON.stringify(now) ? 0 : 1;
      assert.deepEqual(inGerman(before), inGerman(now));
      const end = (of: readonly RunEvent[]) => {
        const state = foldRun(of);
        return outcomeSentence(runEnd(state, state.outcome ?? 'interrupted'), german).text;
      };
      assert.equal(end(before), end(now));
    }
    assert.ok(changed > 5, `${changed}`);
  });
});

function events(bodies: ReturnType<typeof everyEvent>): readonly RunEvent[] {
  return bodies.map((body, index) => ({
    ...{ seq: index + 1, at: '2026-01-01T10:00:00.000Z' },
    ...body,
  }));
}
