#!/usr/bin/env node
// A fake of `claude` that marks its story done and commits nothing.
import { init, result, tick } from './fake.mjs';

init();
tick();
result('Done.');
