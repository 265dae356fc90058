#!/usr/bin/env node
// A fake of `claude` that is killed while it prints.
import { init, print } from './fake.mjs';

init();
print('{"type":"assistant","message":{"content":[{"type":"text","te');
process.kill(process.pid, 'SIGKILL');
