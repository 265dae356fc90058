#!/usr/bin/env node
// A fake of `claude` that claims to have finished everything, and works only when its prompt reports the false claim.
import { init, prompt, result, workOnStory } from './fake.mjs';

init();
if (prompt.includes('claimed completion too early')) {
  workOnStory();
} else {
  result('All stories are done!\n\n<promise>TASK_COMPLETE</promise>');
}
