// npm run schema: writes the files in schemas/, which editors use for completion and explanations in prd.json. There is
// one per language, and package.nls.*.json selects the one of the window. A test fails if they are outdated.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { schemaFiles } from './lib/schemaFiles.ts';

const root = path.resolve(import.meta.dirname, '..');
for (const { file, text } of schemaFiles(root)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}
