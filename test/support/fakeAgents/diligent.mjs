#!/usr/bin/env node
// A fake of `claude` for runs with lanes, which can be killed at any moment. It works in small steps, makes one to three
// commits, and only does what is not there yet: it continues earlier work, and it brings its lines into files that
// others have changed. DILIGENT_AGENT contains its options: `paceMs` between two steps, `order` ("commitFirst",
// "tickFirst"), `outlives` (it continues when nobody reads its output), `children` (stories at which it leaves a
// process behind), `waits` (it works as soon as there is a note `go` or `go-<story>`), `idle` (it only ticks its story),
// `commitsNever`, `isStubborn` (it survives SIGTERM),
// `waitsToCommit` (its last commit waits for a note `commit`), and `plans`, by story: number of `commits`, `isShared` (it changes the line that others change, too),
// `pair` (`name`, `own`, `other`: two stories that are green alone and red together until one of them joins both).
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  git,
  init,
  note,
  prompt,
  result,
  story,
  storyFile,
  text,
  tick,
  tool,
  waitForNote,
} from './fake.mjs';

const how = JSON.parse(process.env.DILIGENT_AGENT);
const notes = path.join(process.env.FAKE_AGENT_NOTES, 'agents.jsonl');
const { commits = 1, isShared, pair } = how.plans?.[story] ?? {};

/** A moment at which a kill can happen. */
const step = () => delay(how.paceMs ?? 0);

/** Printing fails once the loop is dead. Some agents die from that, others finish their current work. */
function tell(action) {
  try {
    action();
  } catch (error) {
    if (error.code !== 'EPIPE' || !how.outlives) throw error;
  }
}

/** Reports earlier agents of this place or story, and their processes, which must be gone before a new one starts. */
function reportOthers() {
  for (const line of readFileSync(notes, 'utf8').trim().split('\n')) {
    const { at, left = [], of, place } = JSON.parse(line);
    for (const other of [...left, ...(at ? [at] : [])]) {
      const isNear = place === process.cwd() || of === story;
      if (isNear && other.pid !== process.pid && startOf(other.pid) === other.start) {
        note({
          wrong: `process ${other.pid} of an earlier agent still runs next to agent ${process.pid}`,
        });
      }
    }
  }
}

/** When a process has started, because its pid may belong to another one later; '' if it does not run. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(state) ? '' : fields[18];
  } catch {
    // It has ended.
    return '';
  }
}

const identify = pid => ({ pid, start: startOf(pid) || 'unknown' });

async function commit(subject) {
  if (how.commitsNever) return;
  git('add', '--all');
  await step();
  if (git('status', '--porcelain').trim() === '') return;
  git('commit', '--quiet', '--message', subject);
  note({ commit: git('rev-parse', 'HEAD').trim(), story });
  await step();
}

function put(file, content) {
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

const parts = [
  async () => {
    const file = path.join('work', `${story}.txt`);
    mkdirSync('work', { recursive: true });
    const lines = ['one', 'two', 'three'].map(part => `${story}: part ${part}\n`);
    if (existsSync(file) && readFileSync(file, 'utf8') === lines.join('')) return;
    writeFileSync(file, '');
    for (const line of lines) {
      tell(() => tool('Edit', { file_path: path.resolve(file) }));
      appendFileSync(file, line);
      await step();
    }
  },
  async () => {
    const list = isShared ? readFileSync('shared.txt', 'utf8').trimEnd() : '';
    if (!isShared || list.split(' ').includes(story)) return;
    writeFileSync('shared.txt', `${list} ${story}\n`);
    await step();
  },
  async () => {
    if (!pair) return;
    put(`pairs/${pair.name}.${pair.own}`, `${story}\n`);
    await step();
    if (existsSync(`pairs/${pair.name}.${pair.other}`))
      put(`pairs/${pair.name}.joined`, `${story}\n`);
  },
];

if (how.isStubborn) process.on('SIGTERM', () => undefined);
tell(init);
if (story === undefined || storyFile === undefined) {
  // The loop died before it could pass the prompt; `claude -p` exits then, too.
  process.exit(1);
}
note({ at: identify(process.pid), place: process.cwd(), of: story });
reportOthers();
if (prompt.includes('Earlier Work on This Story Did Not Fit')) note({ resolves: story });
tell(() => text(`Looking at what is there of ${story}.`));
if (how.waits) await waitForNote('go', `go-${story}`);
await step();
for (const [at, part] of how.idle ? [] : parts.entries()) {
  await part();
  if (at < commits - 1) await commit(`feat: ${story}, part ${at + 1}`);
}
if (how.children?.includes(story)) {
  const sleeper = path.join(import.meta.dirname, './sleeper.mjs');
  const child = spawn(process.execPath, [sleeper], { detached: true, stdio: 'ignore' });
  child.unref();
  note({ left: [identify(child.pid)], place: process.cwd(), of: story });
}
const progress = path.join(path.dirname(storyFile), 'progress.txt');
if (
  !how.idle &&
  (!existsSync(progress) || !readFileSync(progress, 'utf8').includes(`## ${story}`))
) {
  appendFileSync(progress, `## ${story}\n- Learned: ${story} has three parts\n---\n`);
}
await step();
if (how.order === 'tickFirst') tick();
await step();
if (how.waitsToCommit) {
  text('Waiting to commit.');
  await waitForNote('commit');
}
if (!how.idle) await commit(`feat: ${story}`);
if (how.order !== 'tickFirst') tick();
await step();
tell(() => result(`${story} is done.`));
