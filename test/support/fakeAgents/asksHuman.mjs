#!/usr/bin/env node
// A fake of `claude` that cannot continue without a person.
import { init, result } from './fake.mjs';

init();
result('I need a decision.\n\n<promise>NEEDS_HUMAN: Blue or green?</promise>');
