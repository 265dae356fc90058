#!/usr/bin/env node
// A fake of `claude` that does its story and leaves two processes behind, one of them in its own session. With a note
// `hold`, it keeps running, too.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { init, note, noteExists, stay, workOnStory } from './fake.mjs';

const sleeper = path.join(import.meta.dirname, './sleeper.mjs');
const stdio = ['ignore', 'inherit', 'inherit'];
const near = spawn(process.execPath, [sleeper], { stdio });
const far = spawn(process.execPath, [sleeper], { stdio, detached: true });
near.unref();
far.unref();
note({ left: [near.pid, far.pid] });
init();
if (noteExists('hold')) {
  stay();
} else {
  workOnStory();
}
