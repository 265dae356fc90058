// A fake of a full disk, loaded into the loop by --import: journals take this many bytes and no more. With
// room for none, the list that hides the state from git, which comes before them, is not written either.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const room = Number(process.env.FULL_DISK_AFTER);
const { openSync, writeSync } = fs;
const journals = new Set();

fs.openSync = (file, ...rest) => {
  const fd = openSync(file, ...rest);
  if (String(file).endsWith('journal.jsonl')) {
    journals.add(fd);
  }
  return fd;
};
fs.writeSync = (fd, ...rest) => {
  if (journals.has(fd) && fs.fstatSync(fd).size + rest[0].length > room) {
    // As a disk does it: what fits is written.
    writeSync(fd, rest[0].subarray(0, Math.max(0, room - fs.fstatSync(fd).size)));
    throw full();
  }
  return writeSync(fd, ...rest);
};
const { open } = fs.promises;
fs.promises.open = async (file, ...rest) => {
  const handle = await open(file, ...rest);
  if (room === 0 && path.basename(String(file)).startsWith('.gitignore.')) {
    handle.writeFile = async () => {
      throw full();
    };
  }
  return handle;
};
syncBuiltinESMExports();

function full() {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
