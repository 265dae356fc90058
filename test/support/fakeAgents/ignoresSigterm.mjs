#!/usr/bin/env node
// A fake of `claude` that does not listen when it is asked to end.
import { init, note, stay } from './fake.mjs';

process.on('SIGTERM', () => note({ heard: 'SIGTERM' }));
init();
stay();
