#!/usr/bin/env node
// A fake of `claude` that claims to have finished everything, and works only when it is told of its error.
import { init, prompt, result, workOnStory } from './fake.mjs';

init();
if (prompt.includes('claimed completion too early')) {
  workOnStory();
} else {
  result('All stories are done!\n\n<promise>TASK_COMPLETE</promise>');
}
