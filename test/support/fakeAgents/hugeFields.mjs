#!/usr/bin/env node
// A fake of `claude` whose events are well formed, with fields of megabytes.
import { init, say, tool, workOnStory } from './fake.mjs';

const huge = 'z'.repeat(2 << 20);
init();
tool(huge, { command: huge });
say({ type: 'system', subtype: 'permission_denied', tool_name: huge, message: huge });
say({ type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 2, error: huge });
say({ type: 'system', subtype: 'init', session_id: huge, model: huge });
workOnStory();
