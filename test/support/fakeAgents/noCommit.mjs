#!/usr/bin/env node
// A fake of `claude` that succeeds without having done anything.
import { init, result } from './fake.mjs';

init();
result('I have looked at the code.');
