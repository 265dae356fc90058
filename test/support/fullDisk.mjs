// A fake of a full disk, loaded into the loop by --import: journals take this many bytes and no more. With
// room for none, the list that hides the state from git, which comes before them, is not written either. With
// FULL_DISK=all no file takes anything: it can be created, as on a real disk, and stays empty. FULL_DISK_CODE is another reason.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const isFull = process.env.FULL_DISK === 'all';
const room = Number(process.env.FULL_DISK_AFTER ?? Number.POSITIVE_INFINITY);
const { openSync, writeFileSync, writeSync } = fs;
/** The last that a process has from the start: its own input and output, which are no files here. */
const LAST_STREAM = 2;
const journals = new Set();

fs.openSync = (file, ...rest) => {
  const fd = openSync(file, ...rest);
  if (String(file).endsWith('journal.jsonl')) {
    journals.add(fd);
  }
  return fd;
};
fs.writeSync = (fd, ...rest) => {
  if (isFull && fd > LAST_STREAM) {
    throw full();
  }
  if (journals.has(fd) && fs.fstatSync(fd).size + rest[0].length > room) {
    // As a disk does it: what fits is written.
    writeSync(fd, rest[0].subarray(0, Math.max(0, room - fs.fstatSync(fd).size)));
    throw full();
  }
  return writeSync(fd, ...rest);
};
fs.writeFileSync = (file, ...rest) => {
  if (isFull && !(Number(file) <= LAST_STREAM)) {
    throw full();
  }
  return writeFileSync(file, ...rest);
};
const { write } = fs;
fs.write = (fd, ...rest) => {
  if (isFull && fd > LAST_STREAM) {
    process.nextTick(rest.at(-1), full());
    return;
  }
  write(fd, ...rest);
};
const { open } = fs.promises;
fs.promises.open = async (file, ...rest) => {
  const handle = await open(file, ...rest);
  if (isFull || (room === 0 && path.basename(String(file)).startsWith('.gitignore.'))) {
    handle.writeFile = async () => {
      throw full();
    };
  }
  return handle;
};
syncBuiltinESMExports();

function full() {
  const code = process.env.FULL_DISK_CODE ?? 'ENOSPC';
  return Object.assign(new Error(`${code}: refused by the system, write`), { code });
}
