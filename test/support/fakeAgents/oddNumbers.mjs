#!/usr/bin/env node
// A fake of `claude` that does its story and counts in fractions.
import { commit, init, result, tick } from './fake.mjs';

init();
tick();
commit('feat: counted oddly');
result('Done.', { num_turns: 2.5 });
