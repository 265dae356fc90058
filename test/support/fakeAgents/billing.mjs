#!/usr/bin/env node
// A fake of `claude` whose account has no credit left.
import { init, result, text } from './fake.mjs';

init();
text('Credit balance is too low', { error: 'billing_error' });
result('Credit balance is too low', { is_error: true, api_error_status: 400 });
process.exitCode = 1;
