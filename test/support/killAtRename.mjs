// Loaded into a process with --import: the process dies when it is about to give a file the name in KILL_AT_RENAME, so
// that its temporary file is left.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const { KILL_AT_RENAME } = process.env;
const { renameSync } = fs;
const { rename } = fs.promises;

fs.renameSync = (from, to) => {
  dieAt(to);
  renameSync(from, to);
};
fs.promises.rename = (from, to) => {
  dieAt(to);
  return rename(from, to);
};
syncBuiltinESMExports();

function dieAt(file) {
  if (path.basename(String(file)) === KILL_AT_RENAME) {
    process.kill(process.pid, 'SIGKILL');
  }
}
