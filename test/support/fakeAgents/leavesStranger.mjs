#!/usr/bin/env node
// A fake of `claude` that leaves a process which nothing connects with the run anymore (own session, empty environment,
// like `sudo` or `env -i`), but which still holds standard output open.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { init, note, workOnStory } from './fake.mjs';

const stranger = spawn(process.execPath, [path.join(import.meta.dirname, './sleeper.mjs')], {
  stdio: ['ignore', 'inherit', 'ignore'],
  detached: true,
  env: {},
});
stranger.unref();
note({ left: [stranger.pid] });
init();
workOnStory();
