// Bundles the product into dist/: the extension, the command line, the demo agent, the webview.
// --minify for release, --watch for development.
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, context } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const minify = process.argv.includes('--minify');
const watch = process.argv.includes('--watch');

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify,
  // Names in stack traces of user reports are worth the few bytes.
  keepNames: true,
  sourcemap: minify ? false : 'linked',
  legalComments: 'none',
  // Some CommonJS builds hide their parts from bundlers (UMD); their ES module builds do not.
  mainFields: ['module', 'main'],
  logLevel: 'warning',
};

const node: BuildOptions = {
  ...shared,
  platform: 'node',
  target: 'node20',
  // Bundled CommonJS libraries use these, which ES modules do not have.
  banner: {
    js: [
      "import { createRequire as ralphFreshRequire } from 'node:module';",
      "import { fileURLToPath as ralphFreshPath } from 'node:url';",
      'const require = ralphFreshRequire(import.meta.url);',
      'const __filename = ralphFreshPath(import.meta.url);',
    ].join('\n'),
  },
  format: 'esm',
};

const bundles: BuildOptions[] = [
  {
    ...shared,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.cjs',
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    external: ['vscode'],
  },
  { ...node, entryPoints: ['src/cli.ts'], outfile: 'dist/cli.js' },
  {
    ...node,
    entryPoints: ['src/orchestrator/agents/demo/program.ts'],
    outfile: 'dist/demo-agent.js',
  },
];

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
cpSync(path.join(root, 'src/orchestrator/agents/demo/work'), path.join(root, 'dist/demo-work'), {
  recursive: true,
});
if (watch) {
  for (const options of bundles) {
    const bundle = await context({ ...options, logLevel: 'info' });
    await bundle.watch();
  }
} else {
  await Promise.all(bundles.map(options => build(options)));
}
