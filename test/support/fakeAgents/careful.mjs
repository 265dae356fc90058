#!/usr/bin/env node
// A fake of `claude` that can be killed at any moment. It works in small steps, and continues where its predecessor
// stopped: a story whose commit exists is only ticked, a tick without its commit is committed. CAREFUL_AGENT contains
// its options: `order` ("commitFirst", "tickFirst"), `paceMs` between two steps, `tornWrites` (the story file is
// written in two steps), `outlives` (it continues when nobody reads its output), `children` (stories at which it leaves
// a process behind). It waits at each step while there is a note `hold`.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  git,
  init,
  note,
  noteExists,
  prompt,
  result,
  story,
  storyFile,
  text,
  tool,
} from './fake.mjs';

const how = JSON.parse(process.env.CAREFUL_AGENT);
const notesDir = process.env.FAKE_AGENT_NOTES;
const subjectOf = id => `feat: ${id}`;
const workFile = id => path.join('work', `${id}.txt`);

/** A moment at which a kill can happen. */
async function step() {
  let isHeld = false;
  while (noteExists('hold')) {
    if (!isHeld) {
      note({ did: 'held' });
      isHeld = true;
    }
    await delay(5);
  }
  await delay(how.paceMs);
}

/** Printing fails once the loop is dead. Some agents die from that, others finish their current work. */
function tell(action) {
  try {
    action();
  } catch (error) {
    if (error.code !== 'EPIPE' || !how.outlives) throw error;
  }
}

/** Reports earlier agents of this run and their processes, which must be gone before a new one starts. */
function reportOthers() {
  const lines = readFileSync(path.join(notesDir, 'agents.jsonl'), 'utf8').trim().split('\n');
  for (const { left = [], pid } of lines.map(line => JSON.parse(line))) {
    for (const other of [pid, ...left]) {
      if (other !== undefined && other !== process.pid && isOurs(other)) {
        note({
          wrong: `process ${other} of an earlier agent still runs next to agent ${process.pid}`,
        });
      }
    }
  }
}

function isOurs(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const isDead = /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
    return !isDead && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(notesDir);
  } catch {
    // Gone, or a process of somebody else.
    return false;
  }
}

/** A killed git leaves its lock files; no other process works here now. */
function removeDeadLocks() {
  for (const name of readdirSync('.git', { recursive: true })) {
    if (name.endsWith('.lock')) rmSync(path.join('.git', name), { force: true });
  }
}

function readStories() {
  try {
    return JSON.parse(readFileSync(storyFile, 'utf8'));
  } catch (error) {
    note({ wrong: `agent ${process.pid} was started with a broken story file: ${error.message}` });
    throw error;
  }
}

const isCommitted = id => git('log', '--format=%s').split('\n').includes(subjectOf(id));

async function commit(id, ...files) {
  git('add', '-A', '--', ...files);
  await step();
  git('commit', '--quiet', '--allow-empty', '-m', subjectOf(id));
  note({ commit: git('rev-parse', 'HEAD').trim() });
  await step();
}

/** @returns whether all stories are done now */
async function tick() {
  const stories = readStories();
  const own = stories.userStories.find(({ id }) => id === story);
  if (own.passes) return stories.userStories.every(({ passes }) => passes);
  own.passes = true;
  const content = `${JSON.stringify(stories, null, 2)}\n`;
  if (how.tornWrites) {
    const file = openSync(storyFile, 'w');
    writeSync(file, content.slice(0, content.length / 2));
    await step();
    writeSync(file, content.slice(content.length / 2));
    closeSync(file);
  } else {
    const temporary = path.join(notesDir, `stories-${process.pid}`);
    writeFileSync(temporary, content);
    renameSync(temporary, storyFile);
  }
  await step();
  return stories.userStories.every(({ passes }) => passes);
}

async function work() {
  mkdirSync('work', { recursive: true });
  const [first, ...lines] = ['one', 'two', 'three'].map(part => `${story}: part ${part}\n`);
  writeFileSync(workFile(story), first);
  for (const line of lines) {
    await step();
    tell(() => tool('Edit', { file_path: path.resolve(workFile(story)) }));
    appendFileSync(workFile(story), line);
  }
  if (how.children.includes(story)) {
    const sleeper = path.join(import.meta.dirname, './sleeper.mjs');
    const child = spawn(process.execPath, [sleeper], { detached: true, stdio: 'ignore' });
    child.unref();
    note({ left: [child.pid] });
  }
  const progress = path.join(path.dirname(storyFile), 'progress.txt');
  if (!existsSync(progress) || !readFileSync(progress, 'utf8').includes(`## ${story}`)) {
    appendFileSync(progress, `## ${story}\n- Learned: ${story} has three parts\n---\n`);
  }
  await step();
}

tell(init);
if (story === undefined || storyFile === undefined) {
  // The loop died before it could pass the prompt; `claude -p` exits then, too.
  process.exit(1);
}
reportOthers();
removeDeadLocks();
tell(() => text(`Looking at what is there of ${story}.`));
await step();
const pending = readStories().userStories.filter(({ id, passes }) => passes && !isCommitted(id));
for (const { id } of pending) {
  // Ticked by an agent that did not get to its commit.
  await commit(id, workFile(id), storyFile);
}
if (!isCommitted(story)) {
  await work();
  if (how.order === 'tickFirst') await tick();
  await commit(story, '.');
}
const isComplete = await tick();
const phrase = /end your answer with <promise>([^<]*)<\/promise>/.exec(prompt)?.[1];
tell(() => result(isComplete ? `All done.\n\n<promise>${phrase}</promise>` : `${story} is done.`));
