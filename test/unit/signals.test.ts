import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readSignal } from '../../src/orchestrator/iteration/signals.ts';
import { endsSoon } from '../support/endsSoon.ts';

const TAG = '<promise>TASK_COMPLETE</promise>';

/** A signal in one word, for tables. */
function read(text: string, phrase = 'TASK_COMPLETE'): string {
  const signal = readSignal(text, phrase);
  return signal === undefined
    ? 'none'
    : `${signal.kind}${signal.message === '' ? '' : `: ${signal.message}`}`;
}

describe('a promise that counts', () => {
  const given: readonly (readonly [string, string])[] = [
    ['alone', TAG],
    ['on its own line', `All tests pass.\n\n${TAG}\n`],
    ['with Windows line breaks', `All tests pass.\r\n${TAG}\r\n`],
    ['indented and with spaces inside', 'Done.\n  <promise> TASK_COMPLETE </promise>  '],
    ['in bold', `Done.\n\n**${TAG}**`],
    ['as a list item', `Done.\n- ${TAG}`],
    ['with a tick before and a full stop behind', `✅ ${TAG}.`],
    ['at the end of the last sentence', `All stories are done. ${TAG}`],
    ['behind a colon', `Result: ${TAG}`],
    ['before other lines', `${TAG}\n\nThat was all of it.`],
    ['behind a code block', `\`\`\`sh\nnpm test\n\`\`\`\n${TAG}`],
    ['behind a line that begins with code', `\`\`\`npm test\`\`\` passes.\n${TAG}`],
    ['in a line after one with code', `I ran \`npm test\`.\n${TAG}`],
  ];
  for (const [name, text] of given) {
    test(name, () => assert.equal(read(text), 'complete'));
  }

  test('the phrases of all documents are accepted', () => {
    for (const phrase of ['TASK_COMPLETE', 'COMPLETE', 'RALPH_COMPLETE', 'TASK COMPLETED']) {
      assert.equal(read(`<promise>${phrase}</promise>`), 'complete');
      assert.equal(read(`<promise>${phrase}: 3 stories</promise>`), 'complete: 3 stories');
    }
  });

  test('the configured phrase is accepted', () => {
    assert.equal(read('<promise>ALL (DONE)*</promise>', 'ALL (DONE)*'), 'complete');
    assert.equal(read('<promise>ALL (DONE)*: yes</promise>', 'ALL (DONE)*'), 'complete: yes');
    assert.equal(read('<promise>ALL DONE</promise>', 'ALL (DONE)*'), 'none');
  });
});

describe('a promise that is only mentioned', () => {
  const described: readonly (readonly [string, string])[] = [
    ['in back-ticks', `I will say \`${TAG}\` at the end.`],
    ['in back-ticks alone on a line', `\`${TAG}\``],
    ['in double back-ticks', `\`\`${TAG}\`\``],
    ['in three back-ticks on one line', `\`\`\`${TAG}\`\`\``],
    ['in a code block', `\`\`\`\n${TAG}\n\`\`\``],
    ['in a code block with a language', `\`\`\`text\n${TAG}\n\`\`\``],
    ['in a code block of tildes', `~~~\n${TAG}\n~~~`],
    ['in a code block that is not closed', `\`\`\`\n${TAG}`],
    ['in a longer fence that holds a shorter one', `\`\`\`\`\n\`\`\`\n${TAG}\n\`\`\`\n\`\`\`\``],
    ['in a quotation', `> ${TAG}`],
    ['in quotes', `"${TAG}"`],
    ['in typographic quotes', `“${TAG}”`],
    ['in a sentence', `I must not say ${TAG} before all stories are done.`],
    ['at the end of a sentence without a stop', `I was told to end with ${TAG}`],
    ['at the end of the text, in the middle of a sentence', `There are open stories, so no ${TAG}`],
    ['before a sentence', `${TAG} is what I say when all is done.`],
    ['not closed', '<promise>TASK_COMPLETE'],
    ['empty', '<promise></promise>'],
    ['another phrase', '<promise>SOON</promise>'],
    ['a phrase that only begins like it', '<promise>TASK_COMPLETED_NOT</promise>'],
    ['in other letters', '<promise>task_complete</promise>'],
    ['another tag', '<PROMISE>TASK_COMPLETE</PROMISE>'],
    ['nothing', ''],
  ];
  for (const [name, text] of described) {
    test(name, () => assert.equal(read(text), 'none'));
  }
});

describe('other signals', () => {
  const others: readonly (readonly [string, string, string])[] = [
    ['a question', '<promise>NEEDS_HUMAN: Blue or green?</promise>', 'needsHuman: Blue or green?'],
    ['a question without words', '<promise>NEEDS_HUMAN</promise>', 'needsHuman'],
    ['without a colon', '<promise>NEEDS_HUMAN which one</promise>', 'needsHuman: which one'],
    ['of several lines', '<promise>NEEDS_HUMAN: a\nor b?</promise>', 'needsHuman: a\nor b?'],
    ['another word', '<promise>NEEDS_HUMANS: x</promise>', 'none'],
    ['blocked', '<promise>TASK BLOCKED: no access</promise>', 'blocked: no access'],
    ['blocked without words', '<promise>TASK BLOCKED</promise>', 'blocked'],
    [
      'blocked as the last line',
      'I looked.\n\n**TASK BLOCKED: no access**\n',
      'blocked: no access',
    ],
    ['blocked, not as the last line', 'TASK BLOCKED: no access\nSo I waited.', 'none'],
    ['blocked without a reason and a tag', 'TASK BLOCKED', 'none'],
    ['a quoted block', 'I end with:\n> TASK BLOCKED: no access', 'none'],
    ['a block in a sentence', 'I did not say TASK BLOCKED: no access', 'none'],
    ['a quoted question', '`<promise>NEEDS_HUMAN: x</promise>`', 'none'],
  ];
  for (const [name, text, expected] of others) {
    test(name, () => assert.equal(read(text), expected));
  }

  test('the last of several signals counts', () => {
    const ask = '<promise>NEEDS_HUMAN: x</promise>';
    assert.equal(read(`${TAG}\n${ask}`), 'needsHuman: x');
    assert.equal(read(`${ask}\n\n${TAG}`), 'complete');
    assert.equal(read(`${ask}\n\`${TAG}\``), 'needsHuman: x');
    assert.equal(read(`${ask}\n<promise>SOON</promise>`), 'needsHuman: x');
  });

  test('a question may contain < and >', () => {
    const ask = '<promise>NEEDS_HUMAN: Map<string, Todo> or a list when n > 5?</promise>';
    assert.equal(read(ask), 'needsHuman: Map<string, Todo> or a list when n > 5?');
  });

  test('a question keeps the code in it', () => {
    const ask = '<promise>NEEDS_HUMAN: Is `users.id` a number or a `uuid`?</promise>';
    assert.equal(read(ask), 'needsHuman: Is `users.id` a number or a `uuid`?');
  });

  test('a long question is read completely', () => {
    const words = 'Which of these? '.repeat(200).trim();
    assert.match(read(`<promise>NEEDS_HUMAN: ${words}</promise>`), /^needsHuman: Which of these\?/);
  });
});

describe('whatever an agent says', () => {
  const piece = fc.constantFrom(
    ...['<promise>', '</promise>', 'TASK_COMPLETE', 'NEEDS_HUMAN: ', 'TASK BLOCKED: ', '`', '```'],
    ...['~~~', '\n', '\r\n', '> ', '"', ' ', '.', ':', 'word', '**', '\u0000', '\uD83D', '<', '>'],
  );
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map(parts => parts.join('')),
    fc.string({ unit: 'binary' }),
  );

  test('never throws and finds only real promises', () => {
    fc.assert(
      fc.property(texts, fc.string(), (text, phrase) => {
        const signal = readSignal(text, phrase);
        assert.ok(signal === undefined || text.includes('<promise>') || signal.kind === 'blocked');
      }),
      { numRuns: 1_000 },
    );
  });

  test('finds no promise in a code block', () => {
    fc.assert(
      fc.property(
        texts.filter(text => !/`{3}|~{3}/.test(text)),
        text => {
          assert.equal(readSignal(`\`\`\`\n${text}\n\`\`\``, 'TASK_COMPLETE'), undefined);
        },
      ),
    );
  });

  test('reads long answers quickly', async () => {
    await endsSoon(
      'src/orchestrator/iteration/signals.ts',
      `for (const part of ['<promise>', '\`', '\`\` ', '\`\`\`\\n', '<promise>x', '> ', ' \\n', '**']) {
        module.readSignal(part.repeat(300_000), 'TASK_COMPLETE');
      }`,
    );
  });

  test('reads many tags in one long line quickly', async () => {
    await endsSoon(
      'src/orchestrator/iteration/signals.ts',
      `module.readSignal('" <promise>X</promise> a'.repeat(200_000), 'TASK_COMPLETE');`,
    );
  });
});
