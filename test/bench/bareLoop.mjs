// The baseline for the loop: just one agent per open story until none is left, with its output in a file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

const [agent, ...args] = process.argv.slice(2);
for (let iteration = 1; ; iteration++) {
  const { userStories } = JSON.parse(readFileSync('.omc/prd.json', 'utf8'));
  const story = userStories.find(({ passes }) => !passes);
  if (story === undefined) break;
  const log = openSync(`../bare-${iteration}.log`, 'w');
  const child = spawn(agent, args, { stdio: ['pipe', log, log] });
  child.stdin.end(
    `Read the files (start with .omc/prd.json), then **WORK** on story ${story.id} and commit.\n` +
      'When all is done, end your answer with <promise>TASK_COMPLETE</promise>.\n',
  );
  await once(child, 'close');
  closeSync(log);
}
