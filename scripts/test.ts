// Runs every suite, or those that are named: npm test -- unit process. The last line counts all tests.
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
}

const root = path.resolve(import.meta.dirname, '..');
/** A test that has not ended after this long hangs: it fails by name, and the others still run. */
const TEST_NEVER_MS = 15 * 60_000;
/** A suite that has not ended after this long hangs outside of its tests: it fails, and the next one runs. */
const SUITE_NEVER_MS = 40 * 60_000;

const results = path.join(root, 'test-results');
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);

/** In the order of how soon they tell something. */
const suites: Readonly<Record<string, () => Promise<Counts>>> = {
  lint: () => check(bin('biome'), ['ci', '--colors=off', '.']),
  types: () => check(bin('tsc'), ['-b']),
  build: () => check(process.execPath, ['scripts/build.ts']),
  unit: () => nodeTests('unit'),
  process: () => nodeTests('process'),
  contract: () => nodeTests('contract'),
  vscode: () => inExtensionHost(),
  oldest: () => playwright('oldest', ['--grep', '@oldest'], { RALPH_FRESH_VSCODE: 'oldest' }),
  ui: () => playwright('ui'),
};

let interrupted = false;

async function main(): Promise<void> {
  const asked = process.argv.slice(2);
  const unknown = asked.filter(name => !(name in suites));
  if (unknown.length > 0) {
    console.error(
      `There is no suite ${unknown.join(', ')}. There are: ${Object.keys(suites).join(', ')}.`,
    );
    process.exitCode = 64;
    return;
  }
  const needsBuild = asked.some(name => !['lint', 'types', 'unit', 'build'].includes(name));
  const names =
    asked.length === 0
      ? Object.keys(suites)
      : [...(needsBuild && !asked.includes('build') ? ['build'] : []), ...asked];
  mkdirSync(results, { recursive: true });
  const total = { passed: 0, failed: 0 };
  const summary: string[] = [];
  for (const name of names) {
    if (interrupted) {
      break;
    }
    const suite = suites[name];
    if (suite === undefined) {
      continue;
    }
    console.log(`\n[test] ${name}`);
    const startedAt = performance.now();
    const { passed, failed, skipped = 0 } = await suite();
    total.passed += passed;
    total.failed += failed;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    summary.push(
      `[test] ${name}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''} (${seconds} s)`,
    );
    console.log(summary.at(-1));
  }
  console.log(`\n${summary.join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 && !interrupted ? 0 : 1;
}

/** A check counts as one test. */
async function check(command: string, args: readonly string[]): Promise<Counts> {
  return (await run(command, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function nodeTests(folder: string): Promise<Counts> {
  const files = globSync(`test/${folder}/**/*.test.ts`, { cwd: root }).sort();
  const countsFile = path.join(results, `${folder}.json`);
  rmSync(countsFile, { force: true });
  const temp = mkdtempSync(path.join(tmpdir(), 'ralph-fresh-tests-'));
  try {
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--test',
      `--test-timeout=${TEST_NEVER_MS}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/lib/countReporter.ts',
      `--test-reporter-destination=${countsFile}`,
      ...files,
    ];
    const code = await run(process.execPath, args, { TMPDIR: temp, TEMP: temp, TMP: temp });
    const counts = withExitCode(readCounts(countsFile), code);
    const left = readdirSync(temp);
    // A test that failed may leave what it was about.
    if (counts.failed > 0 || left.length === 0) {
      return counts;
    }
    console.log(`[test] ${folder}: tests left temporary files behind: ${left.join(', ')}`);
    return { ...counts, failed: 1 };
  } finally {
    rmSync(temp, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function inExtensionHost(): Promise<Counts> {
  const countsFile = path.join(results, 'vscode.json');
  rmSync(countsFile, { force: true });
  const code = await run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    'test/vscode/run.ts',
    countsFile,
  ]);
  return withExitCode(readCounts(countsFile), code);
}

/** Playwright's own report counts otherwise. */
async function playwright(
  suite: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Counts> {
  const reportFile = path.join(results, `${suite}.json`);
  rmSync(reportFile, { force: true });
  const code = await run(
    bin('playwright'),
    ['test', '-c', 'test/ui/playwright.config.ts', ...args],
    { ...env, RALPH_FRESH_TEST_REPORT: suite },
  );
  const { stats } = readJson(reportFile) as {
    stats?: { expected: number; unexpected: number; flaky: number; skipped: number };
  };
  const flaky = stats?.flaky ?? 0;
  if (flaky > 0) {
    console.log(`[test] ${suite}: ${flaky} passed only when tried again`);
  }
  const counts = {
    passed: (stats?.expected ?? 0) + flaky,
    failed: stats?.unexpected ?? 0,
    skipped: stats?.skipped ?? 0,
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
    // It ended before it could write; the exit code says the rest.
    return {};
  }
}

/** A suite that ended badly, or ran nothing, has failed, whatever it counted. */
function withExitCode(counts: Counts, code: number): Counts {
  const sound = counts.failed > 0 || (code === 0 && counts.passed > 0);
  return sound ? counts : { ...counts, failed: 1 };
}

function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    // On Windows the programs in .bin are scripts, which only a shell starts.
    const isScript = process.platform === 'win32' && command !== process.execPath;
    const child = spawn(isScript ? `"${command}"` : command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: isScript,
    });
    const watchdog = setTimeout(() => {
      console.log(`[test] ended after ${SUITE_NEVER_MS / 60_000} minutes: it hangs`);
      child.kill('SIGTERM');
    }, SUITE_NEVER_MS);
    // A signal to this process alone must not leave a suite behind.
    const pass = (signal: NodeJS.Signals) => {
      interrupted = true;
      child.kill(signal);
    };
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.on('error', reject);
    child.on('close', code => {
      clearTimeout(watchdog);
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}

await main();
