#!/usr/bin/env node
// A fake of `claude` whose call fails.
import { init, result } from './fake.mjs';

init();
result('API Error: 500 the fake model has a bad day', { is_error: true, api_error_status: 500 });
process.exitCode = 1;
