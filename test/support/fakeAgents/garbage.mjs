#!/usr/bin/env node
// A fake of `claude` that prints all kinds of garbage, and does its story in between.
import { writeSync } from 'node:fs';
import { init, print, say, text, workOnStory } from './fake.mjs';

const binary = Buffer.alloc(65_536);
let state = 1;
for (let i = 0; i < binary.length; i++) {
  state = (state * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
  binary[i] = state >> 16;
}
init();
print(binary);
print('\n\u0000\u001b[2J\u001b]0;title\u0007\r\n');
// Megabytes of short lines that are not part of the protocol, on both streams.
const noise = Buffer.from('0123456789 noise\n'.repeat(4_000));
for (let i = 0; i < 60; i++) {
  print(noise);
}
writeSync(2, noise);
// One line of 20 MB that starts like an event.
print('{"type":"assistant","message":{"content":[{"type":"text","text":"');
const long = Buffer.alloc(1 << 20, 'x');
for (let i = 0; i < 20; i++) {
  print(long);
}
print('"}]}}\n');
// Events of the right shape with far too much content.
text('y'.repeat(1 << 20));
say({ type: 'result', result: 42, is_error: 'maybe', num_turns: -1, total_cost_usd: 'much' });
say([]);
say({ type: 'system', subtype: 'init', model: 7 });
workOnStory();
