#!/usr/bin/env node
// A fake of `claude` that ends well and has done nothing.
import { init, result } from './fake.mjs';

init();
result('I have looked at the code.');
