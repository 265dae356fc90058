#!/usr/bin/env node
// A fake of `claude` that says that it is there and then nothing more.
import { init, stay } from './fake.mjs';

init();
stay();
