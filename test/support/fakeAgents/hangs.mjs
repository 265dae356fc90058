#!/usr/bin/env node
// A fake of `claude` that prints its first event and then nothing more.
import { init, stay } from './fake.mjs';

init();
stay();
