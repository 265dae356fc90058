// Runs all suites except `oldest`, or the given ones: npm test -- unit process. The last line counts all tests. With
// --all, it also runs `oldest`, and what variants.ts leaves out: npm run test:all.
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { cacheRoot } from './lib/cache.ts';
import {
  describeFailures,
  type FailedTest,
  type PlaywrightSuite,
  playwrightFailures,
} from './lib/failedTest.ts';
import { SuiteOutput } from './lib/suiteOutput.ts';
import { runSuiteProcess, tell } from './lib/suiteProcess.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
  readonly failures?: readonly FailedTest[];
}

const root = path.resolve(import.meta.dirname, '..');
/** A test of `node:test` that has not ended after this time hangs: it fails by name, and the others still run. */
const TEST_NEVER_MS = 10 * 60_000;
/** A suite without activity for this time hangs. Longer than a test, a download or a wait may take. */
const QUIET_MS = 15 * 60_000;

/**
 * Number of test files of a suite in parallel. They start processes and wait for them, so more than there are
 * processors.
 */
const FILES_AT_ONCE = 2 * availableParallelism();

const results = path.join(root, 'test-results');
const playwrightCli = path.join(root, 'node_modules', '@playwright', 'test', 'cli.js');
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);

/** Prints for one suite. */
type Print = (text: string) => void;

/** In the order of how soon they give results. */
const suites: Readonly<Record<string, (print: Print) => Promise<Counts>>> = {
  lint: print => check(print, bin('biome'), ['ci', '--colors=off', '.']),
  types: print => check(print, bin('tsc'), ['-b']),
  build: print => check(print, process.execPath, ['scripts/build.ts']),
  unit: print => nodeTests(print, 'unit'),
  process: print => nodeTests(print, 'process'),
  contract: print => nodeTests(print, 'contract'),
  vscode: print => inExtensionHost(print),
  oldest: print =>
    playwright(print, 'oldest', ['--grep', '@oldest', '--workers', '1'], {
      RALPH_FRESH_VSCODE: 'oldest',
      RALPH_FRESH_TESTS: 'all',
    }),
  ui: print => playwright(print, 'ui'),
};
/** It repeats stories of `ui`, and runs only by its name or with `--all`. */
const ONLY_IN_ALL = 'oldest';
/** They run before the others, which need them. */
const FIRST = ['lint', 'types', 'build'];
/**
 * Runs in parallel with the others if there are processors to spare: it takes longer than all of them together. On two
 * processors everything would take as long, and each click in a window would wait for its turn.
 */
const IN_PARALLEL = availableParallelism() > 2 ? 'ui' : undefined;

let interrupted = false;

async function main(): Promise<void> {
  const runsAll = process.argv.includes('--all');
  if (runsAll) {
    // For variants.ts.
    process.env['RALPH_FRESH_TESTS'] = 'all';
  }
  const asked = process.argv.slice(2).filter(name => name !== '--all');
  const unknown = asked.filter(name => !(name in suites));
  if (unknown.length > 0) {
    console.error(
      `There is no suite ${unknown.join(', ')}. The suites are: ${Object.keys(suites).join(', ')}.`,
    );
    process.exitCode = 64;
    return;
  }
  const needsBuild = asked.some(name => !['lint', 'types', 'unit', 'build'].includes(name));
  const names =
    asked.length === 0
      ? Object.keys(suites).filter(name => runsAll || name !== ONLY_IN_ALL)
      : [...(needsBuild && !asked.includes('build') ? ['build'] : []), ...asked];
  mkdirSync(results, { recursive: true });
  const output = new SuiteOutput(names, text => process.stdout.write(text));
  const ended = new Map<string, Counts>();
  const summary = new Map<string, string>();
  const failureTexts = new Map<string, string>();
  const runOne = async (name: string): Promise<void> => {
    const suite = suites[name];
    if (suite === undefined || interrupted) {
      return;
    }
    const print = output.of(name);
    print(`\n[test] ${name}\n`);
    const startedAt = performance.now();
    const counts = await suite(print);
    const { passed, failed, skipped = 0, failures = [] } = counts;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    const line = `${name}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''} (${seconds} s)`;
    ended.set(name, counts);
    summary.set(name, `[test] ${line}`);
    failureTexts.set(name, describeFailures(name, failures));
    tell(print, line);
    output.end(name);
  };
  const runInOrder = async (some: readonly string[]): Promise<void> => {
    for (const name of some) {
      await runOne(name);
    }
  };
  await runInOrder(names.filter(name => FIRST.includes(name)));
  const others = names.filter(name => !FIRST.includes(name));
  await Promise.all([
    runInOrder(others.filter(name => name !== IN_PARALLEL)),
    runInOrder(others.filter(name => name === IN_PARALLEL)),
  ]);
  output.flush();
  const total = { passed: 0, failed: 0 };
  for (const { passed, failed } of ended.values()) {
    total.passed += passed;
    total.failed += failed;
  }
  const failures = names.flatMap(name => failureTexts.get(name) || []);
  if (failures.length > 0) {
    console.log(`\nThese failed:\n\n${failures.join('\n')}`);
  }
  console.log(`\n${names.flatMap(name => summary.get(name) ?? []).join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 && !interrupted ? 0 : 1;
}

/** A check counts as one test. */
async function check(print: Print, command: string, args: readonly string[]): Promise<Counts> {
  return (await run(print, command, args)) === 0
    ? { passed: 1, failed: 0 }
    : { passed: 0, failed: 1 };
}

async function nodeTests(print: Print, folder: string): Promise<Counts> {
  const files = globSync(`test/${folder}/**/*.test.ts`, { cwd: root }).sort();
  const countsFile = path.join(results, `${folder}.json`);
  rmSync(countsFile, { force: true });
  const temp = mkdtempSync(path.join(tmpdir(), 'ralph-fresh-tests-'));
  try {
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--test',
      `--test-timeout=${TEST_NEVER_MS}`,
      `--test-concurrency=${FILES_AT_ONCE}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/lib/countReporter.ts',
      `--test-reporter-destination=${countsFile}`,
      ...files,
    ];
    const code = await run(print, process.execPath, args, {
      ...{ TMPDIR: temp, TEMP: temp, TMP: temp },
      // Each file is a process, and compiling the program takes longer than most tests.
      NODE_COMPILE_CACHE: path.join(cacheRoot(), 'compiled-tests'),
    });
    const counts = withExitCode(readCounts(countsFile), code);
    const left = readdirSync(temp);
    // A failed test may leave files behind that help to find its cause.
    if (counts.failed > 0 || left.length === 0) {
      return counts;
    }
    tell(print, `${folder}: tests left temporary files behind: ${left.join(', ')}`);
    return { ...counts, failed: 1 };
  } finally {
    rmSync(temp, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function inExtensionHost(print: Print): Promise<Counts> {
  const countsFile = path.join(results, 'vscode.json');
  rmSync(countsFile, { force: true });
  const code = await run(print, process.execPath, [
    '--disable-warning=ExperimentalWarning',
    'test/vscode/run.ts',
    countsFile,
  ]);
  return withExitCode(readCounts(countsFile), code);
}

/** Playwright's own report counts differently. */
async function playwright(
  print: Print,
  suite: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Counts> {
  const reportFile = path.join(results, `${suite}.json`);
  rmSync(reportFile, { force: true });
  const code = await run(
    print,
    process.execPath,
    [playwrightCli, 'test', '-c', 'test/ui/playwright.config.ts', ...args],
    { ...env, RALPH_FRESH_TEST_REPORT: suite },
  );
  const { stats, ...report } = readJson(reportFile) as PlaywrightSuite & {
    stats?: { expected: number; unexpected: number; flaky: number; skipped: number };
  };
  // Those that passed only after a retry count as failed.
  const counts = {
    passed: stats?.expected ?? 0,
    failed: (stats?.unexpected ?? 0) + (stats?.flaky ?? 0),
    skipped: stats?.skipped ?? 0,
    failures: playwrightFailures(report),
  };
  return withExitCode(counts, code);
}

function readCounts(file: string): Counts {
  return { passed: 0, failed: 0, ...readJson(file) };
}

function readJson(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // It ended before it could write; the exit code is enough.
    return {};
  }
}

/** A suite with a bad exit code, or without any test, has failed, whatever it counted. */
function withExitCode(counts: Counts, code: number): Counts {
  const sound = counts.failed > 0 || (code === 0 && counts.passed > 0);
  return sound ? counts : { ...counts, failed: 1 };
}

function run(
  print: Print,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  return runSuiteProcess(command, args, {
    ...{ cwd: root, env, print, quietMs: QUIET_MS },
    onInterrupt: () => {
      interrupted = true;
    },
  });
}

await main();
