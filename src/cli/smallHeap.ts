import v8 from 'node:v8';

// Imported first of all. V8 lets its young generation grow with what passes through, and the loop passes an agent's
// output through for hours: this keeps it small, at no cost that npm run bench shows. Electron takes no flags any
// more once it runs.
if (process.versions['electron'] === undefined) {
  v8.setFlagsFromString('--optimize-for-size');
  v8.setFlagsFromString('--max-semi-space-size=2');
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}
