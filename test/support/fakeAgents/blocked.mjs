#!/usr/bin/env node
// A fake of `claude` that reports US-001 as impossible and does the others.
import { init, result, story, workOnStory } from './fake.mjs';

init();
if (story === 'US-001') {
  result('<promise>TASK BLOCKED: the service is gone</promise>');
} else {
  workOnStory();
}
