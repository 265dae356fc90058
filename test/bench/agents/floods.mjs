#!/usr/bin/env node
// A fake of `claude` that prints BENCH_BYTES bytes of its protocol as fast as the loop reads them, and does its story.
import { init, print, workOnStory } from '../../support/fakeAgents/fake.mjs';
import { streamOf } from '../streamLines.ts';

init();
const block = streamOf(4e6);
for (let left = Number(process.env.BENCH_BYTES); left > 0; left -= block.length) {
  print(block);
}
workOnStory();
