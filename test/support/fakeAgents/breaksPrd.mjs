#!/usr/bin/env node
// A fake of `claude` that breaks the story file in its first iteration, and fixes it when its prompt says so.
import { readFileSync, writeFileSync } from 'node:fs';
import { git, init, note, noteExists, prompt, result, storyFile, workOnStory } from './fake.mjs';

init();
if (/is broken\*\*: Line \d+/.test(prompt)) {
  git('checkout', '--', storyFile);
  note({ did: 'fixed' });
  workOnStory();
} else if (noteExists('broke')) {
  workOnStory();
} else {
  writeFileSync(storyFile, readFileSync(storyFile, 'utf8').replace('[', '[,'));
  writeFileSync(`${process.env.FAKE_AGENT_NOTES}/broke`, '');
  result('I have edited the story file.');
}
