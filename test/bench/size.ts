import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { NODE_FLAGS } from './product.ts';
import type { Row } from './row.ts';

const root = path.resolve(import.meta.dirname, '../..');
const MAX_BUNDLE_KB = 400;
const MAX_VSIX_KB = 1_536;

/** Builds the package as it is published, and measures its size. Afterwards dist/ contains the minified build. */
export function size(): Row[] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...NODE_FLAGS, 'scripts/package.ts'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status !== 0) {
    throw new Error(`The package could not be made.\n${stdout}\n${stderr}`);
  }
  const atStart = [...loadedBy('dist/extension.js', new Set())];
  return [
    row(`extension bundle, minified (${atStart.length} files of dist/)`, atStart, MAX_BUNDLE_KB),
    row('package for the marketplace (ralph-fresh.vsix)', ['ralph-fresh.vsix'], MAX_VSIX_KB),
  ];
}

/** A file and everything it loads before it runs; excludes what it loads later, if ever. */
function loadedBy(file: string, found: Set<string>): ReadonlySet<string> {
  if (!found.has(file)) {
    found.add(file);
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[^"]+\.js)"/g)) {
      loadedBy(path.posix.join(path.posix.dirname(file), name), found);
    }
  }
  return found;
}

function row(what: string, files: readonly string[], maxKb: number): Row {
  const bytes = files.map(file => statSync(path.join(root, file)).size);
  const kb = bytes.reduce((sum, size) => sum + size, 0) / 1024;
  return {
    what,
    budget: `≤ ${maxKb} KB`,
    value: `${kb.toFixed(0)} KB`,
    isWithin: kb <= maxKb,
    decides: true,
  };
}
