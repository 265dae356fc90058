import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from '@playwright/test';
import { build, type Plugin } from 'esbuild';
import { cacheRoot, type Say } from '../../scripts/lib/cache.ts';
import { chromiumArgs, ensureChromium } from '../../scripts/lib/chromium.ts';
import { remoteUri, startVsCodeServer } from '../../scripts/lib/vscodeServer.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { grepVariable, mark, resultVariable, type TestResult } from './index.ts';

export const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const runLimitMs = 60 * 60_000;

export interface RunOptions {
  /** The folder whose copy is opened. */
  readonly workspace?: string;
  readonly extensionPath?: string;
  /** The folder with the `*.test.ts` files. */
  readonly suites?: string;
  /** Folders that come first on the PATH, for example one with a scripted `claude`. */
  readonly path?: readonly string[];
  readonly extraEnv?: Readonly<Record<string, string>>;
  readonly say?: Say;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** What both launchers hand to VS Code: the bundled tests, a copy of the workspace, and where the result is put. */
export interface Prepared extends AsyncDisposable {
  readonly tests: string;
  readonly workspace: string;
  readonly extensionPath: string;
  readonly env: Record<string, string>;
  counts(): Promise<Counts>;
}

export async function prepare(options: RunOptions): Promise<Prepared> {
  const tests = await bundle(options.suites ?? path.join(import.meta.dirname, './suites'));
  const temp = await tempDir('ralph-fresh-host-');
  try {
    const workspace = path.join(temp.path, 'workspace');
    const home = path.join(temp.path, 'home');
    const holds = path.join(temp.path, 'holds');
    const resultFile = path.join(temp.path, 'result.json');
    const source = options.workspace ?? path.join(repoRoot, 'sample');
    await Promise.all([home, holds].map(folder => mkdir(folder)));
    await cp(source, workspace, { recursive: true });
    await gitRepo(workspace);
    const grep = process.env[grepVariable];
    return {
      tests,
      workspace,
      extensionPath: options.extensionPath ?? repoRoot,
      env: cleanEnv({
        home,
        ...(options.path === undefined ? {} : { path: options.path }),
        extra: {
          [resultVariable]: resultFile,
          // The demo agent waits as long as there is a file here with the id of its story.
          RALPH_FRESH_DEMO_HOLD: holds,
          // Time enough to stop its run before it is complete.
          RALPH_FRESH_DEMO_PACE_MS: '50',
          ...(grep ? { [grepVariable]: grep } : {}),
          ...options.extraEnv,
        },
      }),
      counts: () => readCounts(resultFile),
      [Symbol.asyncDispose]: () => temp.remove(),
    };
  } catch (error) {
    await temp.remove();
    throw error;
  }
}

/** Runs the suites in the extension host of the VS Code server, shown by a headless Chromium. */
export async function runInServer(options: RunOptions = {}): Promise<Counts> {
  const say = options.say ?? (line => console.log(line));
  const executablePath = await ensureChromium(say);
  await using prepared = await prepare(options);
  const server = await startVsCodeServer({
    extensionPath: prepared.extensionPath,
    env: prepared.env,
    trusted: true,
    forTests: true,
    say,
  });
  const errors: string[] = [];
  try {
    const browser = await chromium.launch({ executablePath, args: [...chromiumArgs] });
    try {
      const page = await browser.newPage();
      await page.exposeFunction('codeAutomationLog', (type: string, args: readonly unknown[]) => {
        const text = args.map(String).join(' ');
        if (isTestLine(text) || process.env['RALPH_FRESH_TEST_VERBOSE']) {
          console.log(text);
        } else if (type === 'error') {
          errors.push(text);
        }
      });
      const ended = new Promise<void>((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error('they took too long')), runLimitMs);
        const end = (error?: Error): void => {
          clearTimeout(limit);
          error === undefined ? resolve() : reject(error);
        };
        page.once('crash', () => end(new Error('the page crashed')));
        page.once('close', () => end(new Error('the page was closed')));
        // Its exit code says no more than the counts do.
        void page.exposeFunction('codeAutomationExit', () => end());
      });
      const payload = [['extensionTestsPath', remoteUri(server.port, prepared.tests)] as const];
      await Promise.all([page.goto(server.url(prepared.workspace, payload)), ended]);
    } finally {
      await browser.close();
    }
    return await prepared.counts();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const log = errors.map(text => text.slice(0, 1_000)).join('\n');
    throw new Error(`The tests in VS Code did not run to their end: ${reason}.\n${log}`);
  } finally {
    await server.stop();
  }
}

function isTestLine(text: string): boolean {
  return Object.values(mark).some(start => text.startsWith(start));
}

/** One CommonJS file for the extension host, with all suites in it. */
async function bundle(suites: string): Promise<string> {
  const names = await readdir(suites, { recursive: true }).catch(() => []);
  const files = names.filter(name => name.endsWith('.test.ts')).sort();
  if (files.length === 0) {
    throw new Error(`There is no *.test.ts below ${suites}.`);
  }
  const imports = files.map(name => `await import(${JSON.stringify(path.join(suites, name))});`);
  const outfile = path.join(cacheRoot(), 'vscode-tests', 'index.cjs');
  await build({
    stdin: {
      contents: `import { runSuites } from './index.ts';
        export const run = () => runSuites(async () => { ${imports.join('\n')} });`,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    // Without this, some bundled libraries look for files next to the bundle.
    mainFields: ['module', 'main'],
    external: ['vscode'],
    plugins: [mochaFromHere],
    logLevel: 'warning',
  });
  return outfile;
}

/** Mocha stays outside of the bundle, and is named by its whole path, as the cache may be anywhere. */
const mochaFromHere: Plugin = {
  name: 'mocha-from-here',
  setup(build) {
    build.onResolve({ filter: /^mocha$/ }, () => ({
      path: import.meta.resolve('mocha'),
      external: true,
    }));
  },
};

async function readCounts(file: string): Promise<Counts> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || text === '') {
    throw new Error('VS Code ended before a test ran');
  }
  const { passed, failed, complete } = JSON.parse(text) as TestResult;
  // A host that died in the middle of a test has failed that test.
  return { passed, failed: complete ? failed : failed + 1 };
}

/** Prints the closing line and returns the exit code: a run without a test has proved nothing. */
export function report({ passed, failed }: Counts): number {
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

if (import.meta.main) {
  const counts = await runInServer();
  const [countsFile] = process.argv.slice(2);
  if (countsFile !== undefined) {
    await writeFile(countsFile, JSON.stringify(counts));
  }
  process.exitCode = report(counts);
}
