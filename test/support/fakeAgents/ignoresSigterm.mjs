#!/usr/bin/env node
// A fake of `claude` that ignores SIGTERM.
import { init, note, stay } from './fake.mjs';

process.on('SIGTERM', () => note({ heard: 'SIGTERM' }));
init();
stay();
