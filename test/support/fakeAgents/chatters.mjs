#!/usr/bin/env node
// A fake of `claude` that prints FAKE_AGENT_LINES lines, one message each, and does its story.
import { init, print, workOnStory } from './fake.mjs';

const LINES_AT_ONCE = 1_000;

init();
const lines = Number(process.env.FAKE_AGENT_LINES);
for (let from = 1; from <= lines; from += LINES_AT_ONCE) {
  let block = '';
  for (let line = from; line < from + LINES_AT_ONCE && line <= lines; line += 1) {
    const content = [{ type: 'text', text: `I say line ${line}.` }];
    block += `${JSON.stringify({ type: 'assistant', message: { content } })}\n`;
  }
  print(block);
}
workOnStory();
