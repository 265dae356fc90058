import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FromPage, parseFromPage } from '../../src/views/progress/protocol.ts';

const SHA1 = '0123456789abcdef0123456789abcdef01234567';

describe('parseFromPage', () => {
  const valid: readonly FromPage[] = [
    { type: 'ready' },
    { type: 'startRun' },
    { type: 'stopRun' },
    { type: 'showTerminal' },
    { type: 'skipStory' },
    { type: 'answer', text: 'Blue.', question: 'r1/1' },
    { type: 'openPrompt', iteration: 3 },
    { type: 'showNextPrompt' },
    { type: 'openPromptSection', iteration: 3, section: 0 },
    { type: 'showIterations', page: 2 },
    { type: 'showPrompt', iteration: 2 },
    { type: 'chooseFolder', folder: '/work/todo' },
    { type: 'moreLanes' },
    { type: 'fewerLanes' },
    { type: 'pauseLane', lane: 1 },
    { type: 'resumeLane', lane: 16 },
    { type: 'openCommit', hash: '0123abc' },
    { type: 'openCommit', hash: SHA1 },
    { type: 'openCommit', hash: `${SHA1}0123456789abcdef01234567` },
  ];
  for (const message of valid) {
    it(`accepts ${JSON.stringify(message)}`, () => {
      assert.deepEqual(parseFromPage(message), message);
    });
  }

  const invalid: readonly unknown[] = [
    undefined,
    null,
    'ready',
    ['ready'],
    {},
    { type: 'snapshot' },
    { type: 'executeCommand', command: 'workbench.action.quit' },
    { type: 'startRun', args: ['--agent=demo'] },
    { type: 'skipStory', storyId: 'US-001' },
    { type: 'answer', text: '  ', question: 'r1/1' },
    { type: 'answer', text: 'a'.repeat(8_001), question: 'r1/1' },
    { type: 'answer', text: 'Blue.' },
    { type: 'openPrompt' },
    { type: 'openPrompt', iteration: 0 },
    { type: 'openTranscript', iteration: '../..' },
    { type: 'openPromptSection', iteration: 1, section: -1 },
    { type: 'openReceipt', iteration: 1 },
    { type: 'moreLanes', lanes: 4 },
    { type: 'pauseLane' },
    { type: 'pauseLane', lane: 0 },
    { type: 'pauseLane', lane: 17 },
    { type: 'resumeLane', lane: '1' },
    { type: 'openCommit' },
    { type: 'openCommit', hash: 7 },
    { type: 'openCommit', hash: '' },
    { type: 'openCommit', hash: 'HEAD' },
    { type: 'openCommit', hash: '--output=x' },
    { type: 'openCommit', hash: `${SHA1}^` },
    { type: 'openCommit', hash: `${SHA1}\n` },
    { type: 'openCommit', hash: '012345' },
    { type: 'openCommit', hash: SHA1, path: '/etc/passwd' },
  ];
  for (const message of invalid) {
    it(`refuses ${JSON.stringify(message)}`, () => {
      assert.equal(parseFromPage(message), undefined);
    });
  }
});
