#!/usr/bin/env node
// A fake of `claude` that does its story and leaves a process behind which writes one more file when it is ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { init, note, story, workOnStory } from './fake.mjs';

const writer = spawn(
  process.execPath,
  [
    '-e',
    // A test that checks right after the agent has exited must not find the file yet.
    `process.once('SIGTERM', () => {
      setTimeout(() => {
        require('node:fs').writeFileSync('late-${story}.txt', '');
        process.exit();
      }, 200);
    });
    setInterval(() => undefined, 60_000);
    process.stdout.write('ready');`,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
await once(writer.stdout, 'data');
writer.stdout.destroy();
writer.unref();
note({ left: [writer.pid] });
init();
workOnStory();
