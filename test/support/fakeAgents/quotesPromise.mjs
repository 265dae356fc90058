#!/usr/bin/env node
// A fake of `claude` that mentions the promise without making it.
import { init, result, text } from './fake.mjs';

init();
text('<promise>TASK_COMPLETE</promise>');
result(
  [
    'When all is done I will say `<promise>TASK_COMPLETE</promise>`.',
    '```',
    '<promise>TASK_COMPLETE</promise>',
    '```',
    '> <promise>TASK_COMPLETE</promise>',
    'I was told to print "<promise>TASK_COMPLETE</promise>" at the end.',
  ].join('\n'),
);
