import { existsSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';

// Imported before the program itself. Node keeps there what it has compiled, beside the bundle it was made of: whoever
// can write there can change the program as well, which is not so in a folder for temporary files. Where nobody may
// write, Node goes on without a word. Not from source, not before Node 22.1, and not in Electron.
const root = path.dirname(import.meta.dirname);
if (
  process.versions['electron'] === undefined &&
  path.basename(import.meta.dirname) === 'dist' &&
  existsSync(path.join(root, 'package.json'))
) {
  module.enableCompileCache?.(path.join(root, '.cache', 'compiled'));
}
