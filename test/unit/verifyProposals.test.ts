import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { proposeVerifyCommands } from '../../src/orchestrator/proof/checks/verifyProposals.ts';
import { tempDir } from '../support/cleanEnv.ts';

type Files = Readonly<Record<string, string>>;

/** What is proposed for a folder with these files, as `file: command`. */
async function proposed(files: Files, platform: NodeJS.Platform = 'linux'): Promise<string[]> {
  await using temp = await tempDir('verify-proposals-');
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(temp.path, name), content);
  }
  const proposals = await proposeVerifyCommands(temp.path, platform);
  return proposals.map(({ command, source }) => `${source}: ${command}`);
}

const manifest = (scripts: Readonly<Record<string, unknown>>, more: object = {}) =>
  JSON.stringify({ name: 'x', scripts, ...more });
const onlyTest = manifest({ test: 'vitest' });

const table: readonly (readonly [string, Files, readonly string[]])[] = [
  ['an empty folder', {}, []],
  ['a folder of documents', { 'README.md': '# Test\n\nlint: none\n' }, []],

  [
    'all scripts that check, none that do something else',
    {
      'package.json': manifest({
        start: 'node .',
        build: 'tsc',
        lint: 'eslint .',
        test: 'node --test',
        'test:e2e': 'playwright test',
        typecheck: 'tsc --noEmit',
        types: 'tsc -b',
        check: 'biome check',
        format: 'prettier -w .',
      }),
    },
    [
      'npm test',
      'npm run lint',
      'npm run typecheck',
      'npm run types',
      'npm run check',
      'npm run build',
    ].map(command => `package.json: ${command}`),
  ],
  [
    'what npm writes into a new package.json is no test',
    { 'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }) },
    [],
  ],
  [
    'a script that would wait for changes',
    {
      'package.json': manifest({
        test: 'jest --watch',
        check: 'jest --watchAll',
        lint: 'eslint --watch=false .',
        build: 'tsc --watchAll=false',
      }),
    },
    ['package.json: npm run lint', 'package.json: npm run build'],
  ],
  [
    'scripts that are no text',
    { 'package.json': manifest({ test: ['a'], lint: '', build: null }) },
    [],
  ],
  ['no scripts', { 'package.json': '{"name": "x"}' }, []],
  [
    'npm by its lock file',
    { 'package.json': onlyTest, 'package-lock.json': '{}' },
    ['package.json: npm test'],
  ],
  ['pnpm', { 'package.json': onlyTest, 'pnpm-lock.yaml': '' }, ['package.json: pnpm test']],
  ['yarn', { 'package.json': onlyTest, 'yarn.lock': '' }, ['package.json: yarn test']],
  [
    'bun, whose own test command is another one',
    { 'package.json': onlyTest, 'bun.lock': '' },
    ['package.json: bun run test'],
  ],
  ['an older bun', { 'package.json': onlyTest, 'bun.lockb': '' }, ['package.json: bun run test']],
  [
    'the manager that package.json names, without a lock file',
    { 'package.json': manifest({ lint: 'x' }, { packageManager: 'pnpm@9.1.0+sha512.abc' }) },
    ['package.json: pnpm run lint'],
  ],
  [
    'a manager nobody knows',
    { 'package.json': manifest({ test: 'x' }, { packageManager: 'evil; rm -rf /' }) },
    ['package.json: npm test'],
  ],
  ['broken JSON', { 'package.json': '{"scripts": {"test"' }, []],
  ['JSON that is no object', { 'package.json': '["test"]' }, []],
  ['a byte order mark', { 'package.json': `\uFEFF${onlyTest}` }, ['package.json: npm test']],
  ['JSON nested without end', { 'package.json': '['.repeat(200_000) }, []],

  [
    'deno, with tasks in comments',
    {
      'deno.jsonc':
        '{ // tasks\n "tasks": { "test": "deno test -A", "check": { "command": "deno check ." }, }, }',
    },
    ['deno.jsonc: deno task test', 'deno.jsonc: deno task check', 'deno.jsonc: deno lint'],
  ],
  ['deno without tasks', { 'deno.json': '{}' }, ['deno.json: deno test', 'deno.json: deno lint']],

  [
    'targets of a Makefile',
    {
      Makefile:
        '.PHONY: all test lint\ncheck := 1\nLINT ::= x\n# lint: no\nall: build\nbuild test: deps\n\tlint: x\n',
    },
    ['Makefile: make test'],
  ],
  [
    'the Makefile that make would take',
    { GNUmakefile: 'check::\n\ttrue\n', Makefile: 'test:\n' },
    ['GNUmakefile: make check'],
  ],
  [
    'Windows line ends',
    { Makefile: 'lint: a\r\n\techo\r\ntest:\r\n\techo\r\n' },
    ['Makefile: make test', 'Makefile: make lint'],
  ],
  [
    'recipes of a justfile',
    {
      justfile:
        "set shell := ['bash']\n@test *ARGS:\n  cargo test\nlint target:\n  x\n[group('a')]\ncheck mode='all' *rest: test\n  y\n",
    },
    ['justfile: just test', 'justfile: just check'],
  ],
  [
    'an alias in a justfile',
    { Justfile: 'alias test := t\nt:\n  x\n  lint: y\n' },
    ['Justfile: just test'],
  ],
  [
    'tasks of a Taskfile',
    {
      'Taskfile.yml':
        "version: '3'\ntasks:\n  test:\n    cmds: [go test]\n  lint: golangci-lint run\n  deploy: x\n",
    },
    ['Taskfile.yml: task test', 'Taskfile.yml: task lint'],
  ],
  ['a broken Taskfile', { 'Taskfile.yml': 'tasks: [}\n\t- x' }, []],

  ['a crate', { 'Cargo.toml': '[package]\nname = "x"\n' }, ['Cargo.toml: cargo test']],
  [
    'a workspace of crates with lints',
    {
      'Cargo.toml':
        '[workspace]\nmembers = ["a"]\n[workspace.lints.clippy] # strict\nall = "warn"\n',
    },
    ['Cargo.toml: cargo test --workspace', 'Cargo.toml: cargo clippy --workspace --all-targets'],
  ],
  [
    'clippy by its file',
    { 'Cargo.toml': '[package]\n', 'clippy.toml': '' },
    ['Cargo.toml: cargo test', 'Cargo.toml: cargo clippy --all-targets'],
  ],

  ['a Go module', { 'go.mod': 'module x\n' }, ['go.mod: go test ./...', 'go.mod: go vet ./...']],
  [
    'a Go module with a linter',
    { 'go.mod': 'module x\n', '.golangci.yml': '' },
    ['go.mod: go test ./...', 'go.mod: go vet ./...', '.golangci.yml: golangci-lint run'],
  ],

  ['Python without tools', { 'pyproject.toml': '[project]\nname = "pytest-like"\n' }, []],
  [
    'Python tools by their sections',
    {
      'pyproject.toml':
        '[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nstrict = true\n[tool.setuptools]\npackages = ["x"]\n',
    },
    ['pyproject.toml: pytest', 'pyproject.toml: ruff check', 'pyproject.toml: mypy .'],
  ],
  [
    'mypy that knows its files',
    { 'pyproject.toml': '[tool.mypy]\nfiles = ["src"]\n' },
    ['pyproject.toml: mypy'],
  ],
  ['mypy with a file of its own', { 'mypy.ini': '[mypy]\npackages = x\n' }, ['mypy.ini: mypy']],
  [
    'pytest as a dependency',
    { 'pyproject.toml': '[project.optional-dependencies]\ndev = ["pytest>=8", "x"]\n' },
    ['pyproject.toml: pytest'],
  ],
  [
    'poetry, by its section',
    { 'pyproject.toml': '[tool.poetry]\n[tool.poetry.group.dev.dependencies]\npytest = "^8"\n' },
    ['pyproject.toml: poetry run pytest'],
  ],
  [
    'uv, by its lock file',
    {
      'pyproject.toml': '[dependency-groups]\ndev = [\n  "pytest",\n]\n[tool.ruff.lint]\n',
      'uv.lock': '',
    },
    ['pyproject.toml: uv run pytest', 'pyproject.toml: uv run ruff check'],
  ],
  [
    'pdm',
    { 'pyproject.toml': '[tool.pdm]\n[tool.pyright]\n' },
    ['pyproject.toml: pdm run pyright'],
  ],
  [
    'tox.ini',
    { 'tox.ini': '[tox]\nenvlist = py3\n[flake8]\n' },
    ['tox.ini: tox', 'tox.ini: flake8'],
  ],
  [
    'setup.cfg',
    { 'setup.cfg': '[metadata]\n[tool:pytest]\n[mypy]\n' },
    ['setup.cfg: pytest', 'setup.cfg: mypy .'],
  ],
  [
    'pytest.ini and ruff.toml',
    { 'pytest.ini': '', 'ruff.toml': '' },
    ['pytest.ini: pytest', 'ruff.toml: ruff check'],
  ],

  [
    'rspec and rubocop',
    {
      Gemfile:
        "gem 'rspec'\ngroup :dev do\n  gem(\"rubocop\", require: false)\nend\n# gem 'rails'\n",
    },
    ['Gemfile: bundle exec rspec', 'Gemfile: bundle exec rubocop'],
  ],
  [
    'rake',
    { Gemfile: "gem 'rake'\n", Rakefile: 'Rake::TestTask.new do |t|\nend\ntask default: :test\n' },
    ['Rakefile: bundle exec rake test'],
  ],
  [
    'Rails',
    { Gemfile: "gem 'rails', '~> 8'\n", Rakefile: 'Rails.application.load_tasks\n' },
    ['Gemfile: bundle exec rails test'],
  ],
  [
    'a Rakefile without tests',
    { Gemfile: "gem 'rake'\n", Rakefile: 'task :deploy\ntask :tests\n' },
    [],
  ],

  ['Maven', { 'pom.xml': '<project/>' }, ['pom.xml: mvn --batch-mode test']],
  [
    'Maven with its wrapper',
    { 'pom.xml': '<project/>', mvnw: '' },
    ['pom.xml: ./mvnw --batch-mode test'],
  ],
  ['Gradle', { 'build.gradle': '' }, ['build.gradle: gradle check']],
  [
    'Gradle with its wrapper',
    { 'build.gradle.kts': '', gradlew: '', 'gradlew.bat': '' },
    ['build.gradle.kts: ./gradlew check'],
  ],

  [
    'Composer scripts, and a tool without one',
    {
      'composer.json':
        '{"scripts": {"test": ["@php phpunit"], "lint": "x", "post-install-cmd": "y"}}',
      'phpunit.xml': '',
      'phpstan.neon': '',
    },
    [
      'composer.json: composer run-script test',
      'composer.json: composer run-script lint',
      'phpstan.neon: vendor/bin/phpstan analyse',
    ],
  ],
  [
    'PHPUnit without a script',
    { 'composer.json': '{}', 'phpunit.xml.dist': '' },
    ['phpunit.xml.dist: vendor/bin/phpunit'],
  ],

  [
    'Elixir',
    { 'mix.exs': 'defmodule X do\n  defp deps, do: [{:credo, "~> 1.7"}]\nend\n' },
    ['mix.exs: mix test', 'mix.exs: mix credo'],
  ],

  ['one project of .NET', { 'My App.csproj': '<Project/>' }, ['My App.csproj: dotnet test']],
  [
    'a solution next to its project',
    { 'App.sln': '', 'App.csproj': '<Project/>' },
    ['App.sln: dotnet test App.sln'],
  ],
  [
    'names that do not belong into a shell line',
    { 'a$(id).sln': '', 'b; id.sln': '', '-x.sln': '', 'Good.Name-1.slnx': '' },
    ['Good.Name-1.slnx: dotnet test Good.Name-1.slnx'],
  ],

  [
    'several build files, each command once',
    { 'package.json': onlyTest, Makefile: 'test:\n', 'go.mod': 'module x\n' },
    [
      'package.json: npm test',
      'Makefile: make test',
      'go.mod: go test ./...',
      'go.mod: go vet ./...',
    ],
  ],
];

describe('proposeVerifyCommands', () => {
  for (const [name, files, expected] of table) {
    test(name, async () => {
      assert.deepEqual(await proposed(files), expected);
    });
  }

  test('names wrappers and tools differently on Windows', async () => {
    assert.deepEqual(
      await proposed({ 'build.gradle': '', gradlew: '', 'gradlew.bat': '' }, 'win32'),
      ['build.gradle: gradlew.bat check'],
    );
    assert.deepEqual(await proposed({ 'pom.xml': '', mvnw: '' }, 'win32'), [
      'pom.xml: mvnw.cmd --batch-mode test',
    ]);
    assert.deepEqual(await proposed({ 'composer.json': '{}', 'phpunit.xml': '' }, 'win32'), [
      'phpunit.xml: vendor\\bin\\phpunit',
    ]);
  });

  test('returns nothing for a missing folder', async () => {
    assert.deepEqual(await proposeVerifyCommands(path.join(import.meta.dirname, 'nowhere')), []);
  });

  test('ignores build files that are folders, pipes, devices or too large', async () => {
    await using temp = await tempDir('verify-proposals-');
    const at = (name: string) => path.join(temp.path, name);
    await mkdir(at('package.json'));
    await writeFile(at('Taskfile.yml'), `tasks: {test: x}\n#${'x'.repeat(2 * 1024 * 1024)}`);
    if (process.platform !== 'win32') {
      await promisify(execFile)('mkfifo', [at('Makefile')]);
      await symlink('/dev/zero', at('justfile'));
    }
    assert.deepEqual(await proposeVerifyCommands(temp.path), []);
  });

  test('handles every text quickly', async () => {
    const size = 900_000;
    await using temp = await tempDir('verify-proposals-');
    for (const filler of ['\n', ' ', 'a', '[', "gem '", 'a=', "'pytest ", '{ ']) {
      for (const name of [
        'Makefile',
        'justfile',
        'Cargo.toml',
        'pyproject.toml',
        'tox.ini',
        'Gemfile',
        'Rakefile',
        'mix.exs',
      ]) {
        await writeFile(path.join(temp.path, name), filler.repeat(size / filler.length));
      }
      await proposeVerifyCommands(temp.path);
    }
  });
});
