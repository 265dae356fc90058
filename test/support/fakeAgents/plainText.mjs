#!/usr/bin/env node
// A fake of a coding agent that is not Claude Code: it takes the prompt from a file or an argument, works, and prints
// plain text. It writes its arguments to FAKE_AGENT_NOTES.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const args = process.argv.slice(2);
const from = args.find(argument => argument.startsWith('--prompt-file='));
const prompt =
  from === undefined
    ? readFileSync(0, 'utf8')
    : readFileSync(from.slice('--prompt-file='.length), 'utf8');
appendFileSync(path.join(process.env.FAKE_AGENT_NOTES, 'arguments.txt'), `${args.join(' ')}\n`);
const [, story] = /\*\*WORK\*\* on story (\S+)/.exec(prompt);
const file = '.omc/prd.json';
const stories = JSON.parse(readFileSync(file, 'utf8'));
stories.userStories.find(({ id }) => id === story).passes = true;
writeFileSync(file, JSON.stringify(stories, null, 2));
execFileSync('git', ['add', '-A']);
execFileSync('git', ['commit', '--quiet', '-m', `feat: ${story}`]);
console.log(`I have done ${story}.`);
if (stories.userStories.every(({ passes }) => passes)) {
  console.log('\n<promise>TASK_COMPLETE</promise>');
}
