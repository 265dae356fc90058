// npm run schema: writes the files in schemas/, which editors use for completion and explanation in prd.json: one for
// each language, and package.nls.*.json names the one of the window. A test says when it has to be run again.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { schemaFiles } from './lib/schemaFiles.ts';

const root = path.resolve(import.meta.dirname, '..');
for (const { file, text } of schemaFiles(root)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}
