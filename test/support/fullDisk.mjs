// Simulates a full disk, loaded into the loop with --import: journals accept this many bytes and no more. With 0 bytes,
// the exclude list that hides the state from git, which is written before them, is not written either. With
// FULL_DISK=all, no file accepts anything: it can be created, as on a real disk, but remains empty. With FULL_DISK_OF, only
// files whose names match accept nothing. FULL_DISK_CODE sets another error code. FULL_DISK_FREE only sets how
// many bytes the system calls free.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const isFull = process.env.FULL_DISK === 'all';
const room = Number(process.env.FULL_DISK_AFTER ?? Number.POSITIVE_INFINITY);
const { openSync, writeFileSync, writeSync } = fs;
const refused = new RegExp(process.env.FULL_DISK_OF ?? '$^');
/** The last stream that a process has from the start: standard streams are not files on the disk. */
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
    // Like a real disk: writes the part that fits.
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
const { statfsSync } = fs;
fs.statfsSync = folder =>
  process.env.FULL_DISK_FREE === undefined
    ? statfsSync(folder)
    : { ...statfsSync(folder), bavail: Number(process.env.FULL_DISK_FREE), bsize: 1 };
const { open } = fs.promises;
fs.promises.open = async (file, ...rest) => {
  const handle = await open(file, ...rest);
  const name = path.basename(String(file));
  if (isFull || refused.test(name) || (room === 0 && name.startsWith('.gitignore.'))) {
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
