// npm run package: builds ralph-fresh.vsix. A warning of the packager is a failure, since nobody reads warnings in a
// log. `vsce` itself runs the script vscode:prepublish first: types, lint and the minified build.
import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const file = path.join(root, 'ralph-fresh.vsix');
const vsce = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@vscode/vsce/package.json')),
  'vsce',
);

/** Runs vsce, prints its output as it arrives, and returns it. */
async function run(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [vsce, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // With colors, a warning would contain escape sequences.
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      to.write(text);
    });
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', status => resolve(status ?? 1));
  });
  return { code, output };
}

const packed = await run('package', '--no-dependencies', `--out=${file}`);
if (packed.code !== 0) {
  process.exit(packed.code);
}
// It is bundled, in parts that are loaded when they are asked for (docs/adr/0032): more than a hundred files by now.
const PARTS = /\bWARNING\s+This extension consists of \d+ files, out of which \d+ are JavaScript/;
if (/\bWARNING\b/.test(packed.output.replace(PARTS, ''))) {
  console.error('\nThe package was made with a warning, see above. Fix that and run it again.');
  process.exit(1);
}
console.log('\nIn the package:');
const listed = await run('ls', '--no-dependencies');
const { size } = await stat(file);
console.log(`\n${path.relative(root, file)}: ${(size / 1024).toFixed(0)} KB`);
process.exitCode = listed.code;
