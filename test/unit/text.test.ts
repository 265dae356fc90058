import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { shorten, shortenBlock, withoutControls } from '../../src/base/text.ts';
import { endsSoon } from '../support/endsSoon.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;t\u0007',
        '\u009b',
        '\r',
        '\n',
        '\t',
        ' ',
        'a',
        '😀',
        '\uD83D',
      ),
    )
    .map(parts => parts.join('')),
);

/** Whether no letter is cut in half; half ones do not survive UTF-8. */
const isWhole = (text: string) => Buffer.from(text).toString() === text;

describe('shorten', () => {
  const samples: readonly (readonly [string, number, string])[] = [
    ['short', 10, 'short'],
    ['just right', 10, 'just right'],
    ['one word too many', 10, 'one word…'],
    ['a longerwordthanfits', 10, 'a longerw…'],
    ['unbreakableword', 10, 'unbreakab…'],
    ['  white \n\t space ', 20, 'white space'],
    ['a\u0000b\u0007c', 20, 'a b c'],
    ['a😀b', 3, 'a…'],
    ['😀😀', 4, '😀😀'],
    ['\u200b\u2060 \u3164\u2800', 20, ''],
    ['words', 1, '…'],
    ['words', 0, ''],
    ['', 0, ''],
  ];
  for (const [text, max, expected] of samples) {
    test(`${JSON.stringify(text)} to ${max}`, () => assert.equal(shorten(text, max), expected));
  }

  test('returns one line of at most the given length without splitting surrogate pairs', () => {
    fc.assert(
      fc.property(anyText, fc.nat(30), (text, max) => {
        const short = shorten(text, max);
        assert.ok(short.length <= max);
        assert.doesNotMatch(short, /\p{Cc}/u);
        assert.ok(isWhole(short) || !isWhole(text));
        assert.equal(shorten(short, max), short);
      }),
      { numRuns: 500 },
    );
  });
});

describe('shortenBlock', () => {
  test('keeps lines and tabs', () => {
    assert.equal(shortenBlock(' a\n\tb\r\nc \n', 20), 'a\n\tb\nc');
    assert.equal(shortenBlock('first line\nsecond line', 14), 'first line…');
  });

  test('returns at most the given length without terminal control characters', () => {
    fc.assert(
      fc.property(anyText, fc.nat(30), (text, max) => {
        const short = shortenBlock(text, max);
        assert.ok(short.length <= max);
        assert.doesNotMatch(short, /[^\P{Cc}\n\t]/u);
      }),
      { numRuns: 500 },
    );
  });
});

describe('withoutControls', () => {
  const samples: readonly (readonly [string, string])[] = [
    ['plain', 'plain'],
    ['a\tb\nc', 'a\tb\nc'],
    ['a\r\nb\rc', 'a\nb\nc'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u009b31mred', 'red'],
    ['bell\u0007 back\u0008 null\u0000 del\u007f', 'bell back null del'],
    ['ünï 漢字 😀', 'ünï 漢字 😀'],
  ];
  for (const [text, expected] of samples) {
    test(JSON.stringify(text), () => assert.equal(withoutControls(text), expected));
  }

  test('the result cannot control the terminal and does not change if cleaned again', () => {
    fc.assert(
      fc.property(anyText, text => {
        const clean = withoutControls(text);
        assert.doesNotMatch(clean, /[^\P{Cc}\n\t]/u);
        assert.equal(withoutControls(clean), clean);
      }),
      { numRuns: 500 },
    );
  });

  test('a megabyte of broken escape sequences is cleaned quickly', async () => {
    await endsSoon(
      'src/base/text.ts',
      "module.withoutControls('\\u001b]'.repeat(500_000)); module.withoutControls('\\u001b]8;;'.repeat(200_000));",
    );
  });

  test('other long texts are cleaned quickly', async () => {
    await endsSoon(
      'src/base/text.ts',
      `for (const part of ['\\u001b', '\\u001b[', '\\u009b;', '\\r', ' ', 'a ', '1;', '\\u0000']) {
        module.withoutControls(part.repeat(500_000) + 'x');
        module.shorten(part.repeat(500_000) + 'x', 100);
        module.shortenBlock(part.repeat(500_000) + 'x', 100_000);
      }`,
    );
  });
});
