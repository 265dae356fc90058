// Not an agent: loaded into a process with `--import`, it delays the exit until the test has created a note `exit`.
import { existsSync } from 'node:fs';
import path from 'node:path';

const note = path.join(process.env.FAKE_AGENT_NOTES ?? '', 'exit');
process.on('beforeExit', () => {
  if (!existsSync(note)) {
    setTimeout(() => undefined, 25);
  }
});
