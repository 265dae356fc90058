// Bundles the product into dist/: the extension, the command line, the demo agent, the SDK agent's runner, the webview.
// --minify for release, --watch for development, --outdir <folder> to build next to a dist that is in use.
// Unchanged outputs are not touched, since a window or a run may be using them; only source maps are always rewritten.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, context, type Plugin } from 'esbuild';
import { startInOneFile } from './lib/startInOneFile.ts';
import { syncFolder } from './lib/syncFolder.ts';

const root = path.resolve(import.meta.dirname, '..');
const minify = process.argv.includes('--minify');
const watch = process.argv.includes('--watch');
const outdirAt = process.argv.indexOf('--outdir');
const target = path.resolve(root, (outdirAt > 0 && process.argv[outdirAt + 1]) || 'dist');
/** At the same depth as its target, so that source maps refer to the same files from there. */
const outdir = watch ? target : `${target}.new-${process.pid}`;

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify,
  // The package has a limit. The lines and columns of a stack trace can be translated by a release build of the same
  // commit with source maps.
  keepNames: !minify,
  sourcemap: minify ? false : 'linked',
  legalComments: 'none',
  // Some CommonJS builds hide their parts from bundlers (UMD); their ES module builds do not.
  mainFields: ['module', 'main'],
  logLevel: 'warning',
  // A lazily loaded library exports only the functions that are listed for it.
  logOverride: { 'import-is-undefined': 'error' },
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
      // "Pure": removable if nothing uses them.
      'const require = /* @__PURE__ */ ralphFreshRequire(import.meta.url);',
      'const __filename = /* @__PURE__ */ ralphFreshPath(import.meta.url);',
    ].join('\n'),
  },
  format: 'esm',
};

/** A library in its own file next to the bundles, loaded when one of its functions is first called. */
interface OwnFile {
  readonly library: string;
  readonly file: string;
  readonly functions: readonly string[];
  /** It calls its errors or its values by the names of their classes. */
  readonly usesNames?: true;
  /** The source of the file, if it is not what Node would load. */
  readonly source?: string;
}

/** A quarter of the extension's code, and few windows ever open a YAML story file. */
const YAML: OwnFile = {
  library: 'yaml',
  file: 'yaml.cjs',
  functions: [
    ...['isAlias', 'isCollection', 'isMap', 'isPair', 'isScalar', 'isSeq', 'parse'],
    ...['parseDocument', 'stringify', 'visit'],
  ],
  // Its main file for Node consists of many modules.
  source: './node_modules/yaml/browser/index.js',
};

/** The fast reader of such files, with `js-yaml`. */
const PLAIN_YAML: OwnFile = {
  library: './plainYaml.ts',
  file: 'plain-yaml.cjs',
  functions: ['readPlainYaml'],
  source: './src/orchestrator/stories/formats/plainYaml.ts',
};

/** Only edits of story files and settings need it, and the messages about broken JSON. */
const JSONC: OwnFile = {
  library: 'jsonc-parser',
  file: 'jsonc.cjs',
  functions: [
    ...['applyEdits', 'createScanner', 'getNodeValue', 'modify', 'parse', 'parseTree'],
    'printParseErrorCode',
  ],
};

/** Another quarter. A window whose folder has had no run validates nothing before a person does something, and neither do short commands. */
const ZOD: OwnFile = {
  usesNames: true,
  library: 'zod',
  file: 'zod.cjs',
  functions: [
    ...['array', 'boolean', 'discriminatedUnion', 'enum', 'int', 'literal', 'looseObject'],
    ...['number', 'object', 'optional', 'record', 'strictObject', 'string', 'toJSONSchema'],
    ...['union', 'unknown', 'uuid'],
  ],
};

/** Parsers of seven languages: few windows and few commands need them. */
const PARSERS: OwnFile = {
  library: './parsers.ts',
  file: 'parsers.cjs',
  functions: ['treeOf'],
  source: './src/orchestrator/context/symbols/parsers.ts',
};

/** Only Windows needs it for agents; elsewhere, it calls programs that answer and end: `claude --version`, `bd`, `gh`. */
const EXECA: OwnFile = {
  usesNames: true,
  library: 'execa',
  file: 'execa.cjs',
  functions: ['execa'],
};

/** Only runs with issues on GitHub need it. */
const OCTOKIT: OwnFile = {
  library: './octokit.ts',
  file: 'octokit.cjs',
  functions: ['newOctokit'],
  source: './src/orchestrator/trackers/github/octokit.ts',
};

function libraryFile({
  file,
  functions,
  library,
  source = library,
  usesNames,
}: OwnFile): BuildOptions {
  return {
    ...shared,
    keepNames: usesNames === true,
    stdin: {
      contents: `export { ${functions.join(', ')} } from '${source}';`,
      resolveDir: root,
    },
    outfile: path.join(outdir, file),
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // VS Code's extension host reports every access to this global as an error; zod makes one when it is loaded.
    define: { navigator: 'undefined' },
  };
}

function loadedByFirstCall({ file, functions, library }: OwnFile): Plugin {
  return {
    name: `lazy-${library}`,
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${library}$`) }, () => ({
        path: library,
        namespace: `lazy-${library}`,
      }));
      onResolve({ filter: new RegExp(`^\\./${file}$`) }, () => ({
        path: `./${file}`,
        external: true,
      }));
      onLoad({ filter: /.*/, namespace: `lazy-${library}` }, () => ({
        contents: [
          `let loaded;\nconst load = () => (loaded ??= require('./${file}'));`,
          ...functions.map(
            name => `const lazy_${name} = (...args) => load().${name}(...args);
              export { lazy_${name} as ${name} };`,
          ),
        ].join('\n'),
        resolveDir: root,
      }));
    },
  };
}

/**
 * Replaces two dependencies of proper-lockfile: graceful-fs by Node's own functions, which do not run out of files when
 * one folder is created, and an old signal-exit that loads Node's assertions.
 */
const lightLock: Plugin = {
  name: 'light-lock',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(graceful-fs|signal-exit)$/ }, ({ importer, path: name }) => {
      if (!importer.includes('proper-lockfile')) {
        return undefined;
      }
      return name === 'graceful-fs'
        ? { path: 'node:fs', external: true }
        : { path: name, namespace: 'light-lock' };
    });
    onLoad({ filter: /.*/, namespace: 'light-lock' }, () => ({
      contents: "module.exports = require('signal-exit').onExit;",
      resolveDir: root,
    }));
  },
};

/** The program needs to know its version, and not what the extension contributes. */
const onlyVersion: Plugin = {
  name: 'only-version',
  setup({ onLoad }) {
    onLoad({ filter: /package\.json$/ }, ({ path: file }) => {
      if (file !== path.join(root, 'package.json')) {
        return undefined;
      }
      const { version } = JSON.parse(readFileSync(file, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/**
 * The program is in a separate file next to cli.js: Node caches only code that is loaded after the cache is enabled.
 */
const ownProgram: Plugin = {
  name: 'own-program',
  setup({ onResolve }) {
    onResolve({ filter: /\/program\.ts$/ }, () => ({ path: './program.cjs', external: true }));
  },
};

/** For programs whose start should be quick. */
const quickStart: BuildOptions = {
  ...shared,
  // Except in a release, the names are kept anyway, without being set again at every start.
  keepNames: false,
  minify: false,
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: minify,
  platform: 'node',
  target: 'node20',
  // With `require`, only the used modules of Node are loaded; an `import` would load all exports of each.
  format: 'cjs',
  define: {
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
    navigator: 'undefined',
  },
};

/** Features that a window needs only on request are loaded then, from separate files. */
const extension: BuildOptions = {
  ...node,
  entryPoints: ['src/extension.ts'],
  splitting: true,
  chunkNames: 'extension-[name]-[hash]',
  outdir,
  plugins: [
    ...[YAML, PLAIN_YAML, JSONC, ZOD, PARSERS, EXECA].map(loadedByFirstCall),
    startInOneFile(root, 'src/extension.ts', [
      'src/orchestrator/workspace/runWatcher.ts',
      'src/orchestrator/stories/knownSources.ts',
      'src/views/statusBar/runStatusBar.ts',
    ]),
  ],
  target: 'node22',
  external: ['vscode'],
};

const bundles: BuildOptions[] = [
  extension,
  ...[YAML, PLAIN_YAML, JSONC, ZOD, PARSERS, EXECA, OCTOKIT].map(libraryFile),
  {
    ...node,
    plugins: [ownProgram],
    // Loads the program with `require`: an `import` would first search its text for names of exports.
    supported: { 'dynamic-import': false },
    entryPoints: ['src/cli.ts'],
    outfile: path.join(outdir, 'cli.js'),
  },
  {
    ...quickStart,
    plugins: [
      ...[YAML, PLAIN_YAML, JSONC, ZOD, PARSERS, EXECA, OCTOKIT].map(loadedByFirstCall),
      lightLock,
      onlyVersion,
    ],
    entryPoints: ['src/cli/program.ts'],
    outfile: path.join(outdir, 'program.cjs'),
  },
  {
    ...node,
    entryPoints: ['src/orchestrator/agents/demo/program.ts'],
    outfile: path.join(outdir, 'demo-agent.js'),
  },
  {
    ...node,
    entryPoints: ['src/orchestrator/agents/sdk/sdkRunner.ts'],
    outfile: path.join(outdir, 'sdkRunner.js'),
  },
  {
    ...quickStart,
    plugins: [loadedByFirstCall(PARSERS)],
    entryPoints: ['src/orchestrator/context/searchWorker.ts'],
    outfile: path.join(outdir, 'search-worker.cjs'),
  },
  {
    ...shared,
    entryPoints: ['src/webview/main.ts'],
    outfile: path.join(outdir, 'webview/main.js'),
    platform: 'browser',
    // The page loads it with a plain script element.
    format: 'iife',
    target: 'chrome122',
  },
];

rmSync(outdir, { recursive: true, force: true });
try {
  await make();
  if (outdir !== target) {
    syncFolder(outdir, target);
  }
} finally {
  if (outdir !== target) {
    rmSync(outdir, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function make(): Promise<void> {
  cpSync(path.join(root, 'src/orchestrator/agents/demo/work'), path.join(outdir, 'demo-work'), {
    recursive: true,
  });
  if (watch) {
    for (const options of bundles) {
      const bundle = await context({ ...options, logLevel: 'info' });
      await bundle.watch();
    }
    return;
  }
  const metafiles = await Promise.all(
    bundles.map(async options => (await build({ ...options, metafile: true })).metafile),
  );
  const inputs = metafiles.flatMap(made => Object.keys(made.inputs));
  writeFileSync(path.join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices(inputs));
}

/** Name, version and license text of every package that contributes to a bundle. */
function notices(inputs: readonly string[]): string {
  const folders = inputs.flatMap(input => {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
    return folder === undefined ? [] : [folder];
  });
  return [...new Set(folders)]
    .sort()
    .map(folder => {
      const { name, version, license } = JSON.parse(
        readFileSync(path.join(root, folder, 'package.json'), 'utf8'),
      );
      const file = readdirSync(path.join(root, folder)).find(entry => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : readFileSync(path.join(root, folder, file), 'utf8');
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    })
    .join(`\n${'-'.repeat(78)}\n\n`);
}
