import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CodeSearch } from '../../src/orchestrator/context/codeSearch.ts';
import { median, type Row } from './row.ts';

const FILES = 10_000;
const COMMITS = 4_000;
const LINES = 160;
const QUERIES = 25;

/** The index of the code in a repository of 10,000 files: built, opened, refreshed and asked. */
export async function codeIndex(): Promise<Row[]> {
  const dir = mkdtempSync(path.join(tmpdir(), 'bench-code-'));
  try {
    const repository = path.join(dir, 'project');
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
    await importHistory(repository);
    execFileSync('git', ['reset', '--quiet', '--hard'], { cwd: repository });
    // Otherwise the disk would still be writing these files while the index is built.
    execFileSync('sync');
    const before = process.memoryUsage.rss();
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage.rss());
    }, 20);
    const ask = async (search: CodeSearch, commit: string, title = 'fix what is wrong') => {
      const query = { dir: repository, commit, title, text: '', pinned: [], barred: [] };
      const { ms, value } = await timed(() => search.pointers(query));
      if (value === undefined || value.files.length === 0) {
        throw new Error(`Nothing was found for “${title}”.`);
      }
      return ms;
    };
    const hashOf = (name: string) =>
      execFileSync('git', ['rev-parse', name], { cwd: repository, encoding: 'utf8' }).trim();
    const [parent, head] = [hashOf('main~1'), hashOf('main')];
    const folder = path.join(dir, 'index');
    // As in a run: one index, which follows the commits.
    const search = new CodeSearch(folder, { wait: true });
    const first = await ask(search, parent);
    const refreshed = await ask(search, head);
    writeFileSync(path.join(repository, 'src', 'added.ts'), textOf(FILES, 0));
    execFileSync('git', ['add', 'src/added.ts'], { cwd: repository });
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    execFileSync('git', [...who, 'commit', '--quiet', '-m', 'add a file'], { cwd: repository });
    const newest = hashOf('main');
    const added = await ask(search, newest);
    const queries: number[] = [];
    for (let i = 0; i < QUERIES; i++) {
      const title = `fix ${word(i * 31)} and ${word(i * 7 + 3)} of ${word(400 + i)}`;
      queries.push(await ask(search, newest, title));
    }
    clearInterval(watch);
    await search.dispose();
    const another = new CodeSearch(folder, { wait: true });
    const opened = await ask(another, newest);
    await another.dispose();
    const mb = Math.round((highest - before) / 1e6);
    return [
      row(`index of ${FILES} files and ${COMMITS} commits, first built`, first, 10_000),
      row('the same, refreshed after a commit', refreshed, 300),
      row('the same, after a commit that adds a file', added, 300),
      row('the same, a query (median)', median(queries), 50),
      row('the same, opened from its file', opened, undefined),
      {
        what: 'the same, memory, highest',
        budget: '≤ 300 MB',
        value: `${mb} MB`,
        decides: true,
        isWithin: mb <= 300,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function row(what: string, ms: number, budget: number | undefined): Row {
  return {
    what,
    budget:
      budget === undefined ? '–' : budget >= 1_000 ? `≤ ${budget / 1_000} s` : `≤ ${budget} ms`,
    value: ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms)} ms`,
    decides: false,
    isWithin: budget === undefined || ms <= budget,
  };
}

async function timed<T>(
  work: () => Promise<T>,
): Promise<{ readonly ms: number; readonly value: T }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

/**
 * Piece by piece, so that its text is not in the memory that is measured. With short chains of differences, as a clone
 * has them: by default, this command makes chains of 50, and reading a file takes ten times as long.
 */
async function importHistory(repository: string): Promise<void> {
  const git = spawn('git', ['fast-import', '--quiet', '--depth=2'], {
    cwd: repository,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const closed = once(git, 'close');
  await pipeline(Readable.from(history()), git.stdin);
  const [code] = await closed;
  if (code !== 0) {
    throw new Error(`git fast-import ended with ${code}`);
  }
}

/** A stream for `git fast-import`: all files, then commits that each change a few of them. */
function* history(): Generator<string> {
  const all = Array.from({ length: FILES }, (_, file) => file);
  yield* commit(0, 'all files', all);
  for (let number = 1; number < COMMITS; number++) {
    const files = [0, 1, 2].map(i => (number * 7_919 + i * 13) % FILES);
    yield* commit(number, `fix: ${word(number % 900)} in ${pathOf(files[0] ?? 0)}`, files);
  }
}

function* commit(number: number, subject: string, files: readonly number[]): Generator<string> {
  yield `commit refs/heads/main\ncommitter A <a@example.com> ${1_600_000_000 + number * 600} +0000\n${data(subject)}`;
  for (const file of files) {
    yield `M 100644 inline ${pathOf(file)}\n${data(textOf(file, number))}`;
  }
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function pathOf(file: number): string {
  return `src/${word(file % 40)}/${word((file >> 3) % 200)}/${word(file % 977)}${file}.ts`;
}

/** Few words are common, many are rare, as in code. */
function textOf(file: number, version: number): string {
  let seed = file * 2_654_435_761 + version;
  const next = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const name = () => word(Math.floor(20_000 * next() ** 4));
  return Array.from({ length: LINES }, (_, line) =>
    line % 12 === 0
      ? `export function ${name()}${capital(name())}(${name()}: string): void {`
      : `  const ${name()} = ${name()}(${name()}, '${name()} ${name()}');`,
  ).join('\n');
}

const SYLLABLES = [
  'ba',
  'co',
  'di',
  'fe',
  'gu',
  'ha',
  'jo',
  'ki',
  'lem',
  'nor',
  'pra',
  'sto',
  'tri',
  'vul',
];

function word(number: number): string {
  let rest = number + 14;
  let text = '';
  while (rest > 0) {
    text += SYLLABLES[rest % SYLLABLES.length] ?? '';
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
