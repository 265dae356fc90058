#!/usr/bin/env node
// A fake of `claude` that follows the test's script for its first, second, … call; further calls repeat the last one.
// FAKE_AGENT_SCRIPT is a JSON list of lists of steps; or an object with such a list for each story, whose calls are
// counted by themselves, and for `review`. Without it, script.json next to the notes contains the script.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {
  commit,
  git,
  init,
  note,
  readStories,
  result,
  say,
  stay,
  story,
  storyFile,
  text,
  waitForNote,
  workOnStory,
  writeStories,
} from './fake.mjs';

init();
const notes = path.join(process.env.FAKE_AGENT_NOTES, 'agents.jsonl');
const whole = JSON.parse(
  process.env.FAKE_AGENT_SCRIPT ??
    readFileSync(path.join(process.env.FAKE_AGENT_NOTES, 'script.json'), 'utf8'),
);
const isByStory = !Array.isArray(whole);
const script = isByStory ? (whole[story ?? 'review'] ?? [['work']]) : whole;
const calls = readFileSync(notes, 'utf8')
  .split('\n')
  .filter(line => line.includes('"pid"'))
  .filter(line => !isByStory || JSON.parse(line).story === story).length;

/** Changes one story of the file. */
function change(id, edit) {
  const file = readStories();
  edit(
    file.userStories.find(story => story.id === id),
    file,
  );
  writeStories(file);
}

const steps = {
  /** Does the story like a correct agent, with the final answer. */
  work: () => workOnStory(),
  tick: id => change(id, story => Object.assign(story, { passes: true })),
  untick: id => change(id, story => Object.assign(story, { passes: false })),
  retitle: ([id, title]) => change(id, story => Object.assign(story, { title })),
  criteria: ([id, acceptanceCriteria]) =>
    change(id, story => Object.assign(story, { acceptanceCriteria })),
  remove: id =>
    change(id, (story, file) => {
      file.userStories = file.userStories.filter(other => other !== story);
    }),
  add: story =>
    writeStories((file => ({ ...file, userStories: [...file.userStories, story] }))(readStories())),
  write: ([file, content]) => writeFileSync(file, content),
  /** Ticks the story in a list of any format, by its words. */
  tickAny: ([file]) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const at = lines.findIndex(line => line.includes(story));
    const end = lines.findIndex((line, i) => i >= at && /\[ \]|open|pending/.test(line));
    lines[end] = lines[end]
      .replace('[ ]', '[x]')
      .replace('"open"', '"closed"')
      .replace('pending', 'completed');
    writeFileSync(file, lines.join('\n'));
  },
  /** Replaces a text in a file. */
  replace: ([file, from, to]) =>
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(from, () => to),
    ),
  append: ([file, content]) => appendFileSync(file, content),
  delete: file => rmSync(file, { force: true, recursive: true }),
  rename: ([from, to]) => renameSync(from, to),
  folder: file => mkdirSync(file, { recursive: true }),
  link: ([file, target]) => symlinkSync(target, file),
  pipe: file => execFileSync('mkfifo', [file]),
  shell: command => execFileSync('/bin/sh', ['-c', command]),
  /** Runs git with these arguments. */
  git: args => git(...args),
  breakStories: () => writeFileSync(storyFile, '{ "userStories": [ {'),
  commit: subject => commit(subject),
  text: words => text(words),
  event: event => say(event),
  /** Prints the final answer, with fields that replace the usual ones. */
  result: ([words, extra]) => result(words, extra),
  wait: name => waitForNote(name),
  stay: () => stay(),
  exit: code => process.exit(code),
  stderr: words => process.stderr.write(`${words}\n`),
};

for (const step of script[Math.min(calls, script.length) - 1]) {
  const [[name, value]] = typeof step === 'string' ? [[step]] : Object.entries(step);
  note({ step: name });
  await steps[name](value);
}
