// Simulates a file that is mounted by itself, loaded into a process with --import: no other file can get the name in
// MOUNT_POINT. MOUNT_POINT_CODE sets the error code, such as that of a folder in which nothing may be replaced.
// With MOUNT_POINT_KILL, the process dies when it has written that many bytes of the file.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const { MOUNT_POINT, MOUNT_POINT_CODE = 'EBUSY', MOUNT_POINT_KILL } = process.env;
const { openSync, renameSync, writeSync } = fs;
const opened = new Set();
const isIt = file => path.basename(String(file)) === MOUNT_POINT;

fs.renameSync = (from, to) => {
  if (isIt(to)) {
    throw Object.assign(new Error(`${MOUNT_POINT_CODE}: refused by the system, rename`), {
      code: MOUNT_POINT_CODE,
    });
  }
  renameSync(from, to);
};
fs.openSync = (file, ...rest) => {
  const fd = openSync(file, ...rest);
  if (MOUNT_POINT_KILL !== undefined && isIt(file) && rest[0] === 'r+') {
    opened.add(fd);
  }
  return fd;
};
fs.writeSync = (fd, content, ...rest) => {
  if (opened.has(fd)) {
    writeSync(fd, content, 0, Number(MOUNT_POINT_KILL), 0);
    process.kill(process.pid, 'SIGKILL');
  }
  return writeSync(fd, content, ...rest);
};
syncBuiltinESMExports();
