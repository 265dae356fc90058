#!/usr/bin/env node
// A fake of `claude` that does its story and reports fractional counts.
import { commit, init, result, tick } from './fake.mjs';

init();
tick();
commit('feat: counted oddly');
result('Done.', { num_turns: 2.5 });
