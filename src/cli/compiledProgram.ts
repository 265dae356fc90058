import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import zlib from 'node:zlib';
import { EXIT_USAGE } from './exitCodes.ts';

/** The bundle of program.ts. In it is no `import()`. */
const FILE = path.join(import.meta.dirname, 'program.cjs');
/** As Node wraps CommonJS modules. */
const WRAPPER = [
  '(function (exports, require, module, __filename, __dirname) { ',
  '\n});',
] as const;
/** Of the program's text, and of the compiled form behind it. */
const SUM_BYTES = 4;

interface Program {
  main(): Promise<void>;
}

/**
 * The command line, in place of program.ts in the bundle.
 *
 * What V8 has compiled is kept when a command has ended, and used by the next such command. Node's own compile cache
 * keeps no more than what is compiled when a file is loaded, which are few of the functions that are called.
 */
export async function main(): Promise<void> {
  const text = readFileSync(FILE);
  const kept = keptFile();
  const cachedData = kept === undefined ? undefined : readKept(kept, text);
  const [before, behind] = WRAPPER;
  const script = new vm.Script(`${before}${text}${behind}`, {
    filename: FILE,
    columnOffset: -before.length,
    ...(cachedData && { cachedData }),
  });
  const program = { exports: {} as Program };
  const require = createRequire(FILE);
  script.runInThisContext()(program.exports, require, program, FILE, path.dirname(FILE));
  await program.exports.main();
  if (
    kept !== undefined &&
    (cachedData === undefined || script.cachedDataRejected === true) &&
    // Of a command that does not exist nothing is worth keeping.
    process.exitCode !== EXIT_USAGE &&
    // V8 would not take what it made with other flags.
    kept === keptFile()
  ) {
    keep(kept, text, script.createCachedData());
  }
}

/**
 * Beside the bundle: whoever can write there can change the program as well, which is not so in a folder for temporary
 * files. Each command calls other functions; the help of all is one, as it can be asked for of any word.
 * @returns `undefined` where nothing is kept: in Electron, on a Node without checksums, in a folder that is not ours
 */
function keptFile(): string | undefined {
  const root = path.dirname(import.meta.dirname);
  if (
    process.versions['electron'] !== undefined ||
    zlib.crc32 === undefined ||
    !existsSync(path.join(root, 'package.json'))
  ) {
    return undefined;
  }
  const [, , command = '', ...others] = process.argv;
  const isHelp = others.includes('--help') || others.includes('-h');
  const name = /^[a-z]+$/.test(command) && !isHelp ? command : 'help';
  const made = `${process.version}-${process.arch}-${v8.cachedDataVersionTag().toString(16)}`;
  return path.join(root, '.cache', 'compiled', `${name}-${made}`);
}

/** @returns `undefined` when there is none of this text, or not as a whole */
function readKept(file: string, text: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const data = bytes.subarray(2 * SUM_BYTES);
    return bytes.length > 2 * SUM_BYTES &&
      bytes.readUInt32LE() === zlib.crc32(text) &&
      bytes.readUInt32LE(SUM_BYTES) === zlib.crc32(data)
      ? data
      : undefined;
  } catch {
    // Not kept yet, or not to be read: the program is compiled then.
    return undefined;
  }
}

function keep(file: string, text: Buffer, data: Buffer): void {
  const sums = Buffer.alloc(2 * SUM_BYTES);
  sums.writeUInt32LE(zlib.crc32(text));
  sums.writeUInt32LE(zlib.crc32(data), SUM_BYTES);
  const made = `${file}.${process.pid}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    removeMade(file);
    writeFileSync(made, Buffer.concat([sums, data]));
    renameSync(made, file);
  } catch {
    // Nobody may write here, or the disk is full, and the next command starts as slowly as this one.
    try {
      rmSync(made, { force: true });
    } catch {
      // Not even to be looked at, as in a folder of another user; the command itself has succeeded.
    }
  }
}

/** What a killed command left half written. One that writes in this moment finds its file gone and keeps nothing. */
function removeMade(file: string): void {
  const { base, dir } = path.parse(file);
  for (const name of readdirSync(dir)) {
    if (name.startsWith(`${base}.`)) {
      rmSync(path.join(dir, name), { force: true });
    }
  }
}
