#!/usr/bin/env node
// A fake of `claude` that starts a daemon like `env -i setsid`: an empty environment, its own session, and no parent
// anymore. Then it keeps running, or finishes its work once the test says so.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { init, note, text, waitForNote, workOnStory } from './fake.mjs';

init();
const pidFile = path.join(process.env.FAKE_AGENT_NOTES, `daemon-of-${process.pid}`);
const sleeper = path.join(import.meta.dirname, 'sleeper.mjs');
execFileSync('env', [
  ...['-i', 'setsid', '-f', 'sh', '-c'],
  `echo $$ > '${pidFile}.tmp'; mv '${pidFile}.tmp' '${pidFile}'; exec '${process.execPath}' '${sleeper}' > /dev/null 2>&1`,
]);
while (!existsSync(pidFile)) {
  await new Promise(resolve => setTimeout(resolve, 10));
}
note({ left: [Number(readFileSync(pidFile, 'utf8'))] });
text('A daemon runs.');
await waitForNote('go');
workOnStory();
