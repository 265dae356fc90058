import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';

/** A check that a project seems to have. */
export interface VerifyProposal {
  /** A shell line, made of our own words and of names from fixed lists only. */
  readonly command: string;
  /** The file that it was found in, relative to the workspace. */
  readonly source: string;
}

/** A build file that is larger is looked at no closer, in bytes. */
const MAX_FILE = 1024 * 1024;
/** Targets, recipes and scripts that check something and end by themselves. */
const CHECKS = ['test', 'lint', 'typecheck', 'types', 'check', 'build'] as const;
const TARGETS = ['test', 'check', 'lint'] as const;
/** A solution's name goes into a shell line. */
const PLAIN_NAME = /^\w[\w.-]*$/;

/** The files of a workspace's top folder, as the proposals need them. */
class ProjectFiles {
  private readonly dir: string;
  readonly names: ReadonlySet<string>;
  readonly isWindows: boolean;

  constructor(dir: string, names: Iterable<string>, platform: NodeJS.Platform) {
    this.dir = dir;
    this.names = new Set(names);
    this.isWindows = platform === 'win32';
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  first(names: readonly string[]): string | undefined {
    return names.find(name => this.names.has(name));
  }

  /** @returns '' when there is no such file, or it is none to be read */
  async text(name: string | undefined): Promise<string> {
    return name !== undefined && this.has(name) ? readBounded(path.join(this.dir, name)) : '';
  }

  /** A program of the project itself, as the platform's shell names it. */
  own(program: string, windowsName: string): string {
    return this.isWindows ? windowsName : `./${program}`;
  }
}

/**
 * Looks for the checks a project has, in the build files of the workspace's top folder. Starts no program;
 * a file that cannot be read or understood proposes nothing.
 *
 * @param workspace absolute path of the folder
 * @returns the most telling ones of each build file first, no command twice
 */
export async function proposeVerifyCommands(
  workspace: string,
  platform: NodeJS.Platform = process.platform,
): Promise<VerifyProposal[]> {
  // A workspace that is gone has no checks; the run itself says what is wrong with it.
  const names = await readdir(workspace).catch(() => []);
  const files = new ProjectFiles(workspace, names, platform);
  const found = await Promise.all(FINDERS.map(find => find(files)));
  const byCommand = new Map<string, VerifyProposal>();
  for (const proposal of found.flat()) {
    if (!byCommand.has(proposal.command)) {
      byCommand.set(proposal.command, proposal);
    }
  }
  return [...byCommand.values()];
}

type Sections = ReadonlyMap<string, readonly string[]>;

type Finder = (files: ProjectFiles) => Promise<VerifyProposal[]>;

const FINDERS: readonly Finder[] = [
  fromPackageJson,
  fromDeno,
  fromMakefile,
  fromJustfile,
  fromTaskfile,
  fromCargo,
  fromGo,
  fromPython,
  fromRuby,
  fromMaven,
  fromGradle,
  fromComposer,
  fromMix,
  fromDotnet,
];

const proposals = (source: string, commands: readonly string[]): VerifyProposal[] =>
  commands.map(command => ({ command, source }));

async function fromPackageJson(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = 'package.json';
  const manifest = asObject(parseJson(await files.text(source)));
  const scripts = asObject(manifest['scripts']);
  const manager = packageManager(files, manifest['packageManager']);
  const names = CHECKS.filter(name => isUsableScript(scripts[name]));
  return proposals(
    source,
    // `bun test` is bun's own test runner, whatever the script says.
    names.map(name =>
      name === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${name}`,
    ),
  );
}

/** Not what `npm init` writes, and nothing that would wait for changes. */
function isUsableScript(script: unknown): boolean {
  return (
    typeof script === 'string' &&
    script.trim() !== '' &&
    !/no test specified/i.test(script) &&
    !/--watch(?:All)?(?![\w=-])/.test(script)
  );
}

function packageManager(files: ProjectFiles, field: unknown): 'npm' | 'pnpm' | 'yarn' | 'bun' {
  if (files.has('pnpm-lock.yaml')) {
    return 'pnpm';
  }
  if (files.has('yarn.lock')) {
    return 'yarn';
  }
  if (files.first(['bun.lock', 'bun.lockb']) !== undefined) {
    return 'bun';
  }
  if (files.first(['package-lock.json', 'npm-shrinkwrap.json']) !== undefined) {
    return 'npm';
  }
  const named = typeof field === 'string' ? field.split('@', 1)[0] : undefined;
  return named === 'pnpm' || named === 'yarn' || named === 'bun' ? named : 'npm';
}

async function fromDeno(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first(['deno.json', 'deno.jsonc']);
  if (source === undefined) {
    return [];
  }
  const tasks = asObject(asObject(parseJson(await files.text(source)))['tasks']);
  const commandOf = (name: string): unknown => {
    const task = tasks[name];
    return typeof task === 'string' ? task : asObject(task)['command'];
  };
  const named = CHECKS.filter(name => isUsableScript(commandOf(name)));
  return proposals(source, [
    ...named.map(name => `deno task ${name}`),
    // Both come with deno itself and need no task.
    ...(['test', 'lint'] as const)
      .filter(name => !named.includes(name))
      .map(name => `deno ${name}`),
  ]);
}

async function fromMakefile(files: ProjectFiles): Promise<VerifyProposal[]> {
  // In the order in which make looks for them.
  const source = files.first(['GNUmakefile', 'makefile', 'Makefile']);
  if (source === undefined) {
    return [];
  }
  const targets = new Set<string>();
  for (const line of linesOf(await files.text(source))) {
    const colon = line.indexOf(':');
    // A recipe begins with a tab; `:=` and `::=` assign.
    if (colon > 0 && !/^[\t#]/.test(line) && !/^:{1,3}=/.test(line.slice(colon))) {
      for (const target of line.slice(0, colon).trim().split(/\s+/)) {
        targets.add(target);
      }
    }
  }
  return proposals(
    source,
    TARGETS.filter(name => targets.has(name)).map(name => `make ${name}`),
  );
}

async function fromJustfile(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first(['justfile', 'Justfile', '.justfile']);
  if (source === undefined) {
    return [];
  }
  const recipes = new Set<string>();
  for (const line of linesOf(await files.text(source))) {
    const colon = line.indexOf(':');
    const [name = '', ...parameters] = line.slice(0, Math.max(0, colon)).trimEnd().split(/\s+/);
    if (line[colon + 1] !== '=') {
      if (parameters.every(isOptionalParameter)) {
        recipes.add(name.replace(/^@/, ''));
      }
    } else if (name === 'alias') {
      recipes.add(parameters[0] ?? '');
    }
  }
  return proposals(
    source,
    TARGETS.filter(name => recipes.has(name)).map(name => `just ${name}`),
  );
}

function isOptionalParameter(parameter: string): boolean {
  return parameter.startsWith('*') || parameter.includes('=');
}

async function fromTaskfile(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first(
    ['yml', 'yaml', 'dist.yml', 'dist.yaml'].flatMap(end => [`Taskfile.${end}`, `taskfile.${end}`]),
  );
  if (source === undefined) {
    return [];
  }
  const tasks = asObject(asObject(parseYamlText(await files.text(source)))['tasks']);
  return proposals(
    source,
    TARGETS.filter(name => Object.hasOwn(tasks, name)).map(name => `task ${name}`),
  );
}

async function fromCargo(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = 'Cargo.toml';
  const sections = sectionsOf(await files.text(source));
  if (sections.size === 0) {
    return [];
  }
  const all = sections.has('workspace') ? ' --workspace' : '';
  const usesClippy =
    files.first(['clippy.toml', '.clippy.toml']) !== undefined ||
    sections.has('lints.clippy') ||
    sections.has('workspace.lints.clippy');
  return proposals(source, [
    `cargo test${all}`,
    ...(usesClippy ? [`cargo clippy${all} --all-targets`] : []),
  ]);
}

async function fromGo(files: ProjectFiles): Promise<VerifyProposal[]> {
  if (!files.has('go.mod')) {
    return [];
  }
  const linter = files.first(['yml', 'yaml', 'toml', 'json'].map(end => `.golangci.${end}`));
  return [
    ...proposals('go.mod', ['go test ./...', 'go vet ./...']),
    ...(linter === undefined ? [] : proposals(linter, ['golangci-lint run'])),
  ];
}

/** What configures a Python tool: files of its own, and sections of the common ones. */
interface PythonTool {
  readonly command: string;
  readonly files: readonly string[];
  readonly pyproject: readonly string[];
  readonly setupCfg?: readonly string[];
  readonly toxIni?: readonly string[];
}

const PYTHON_TOOLS: readonly PythonTool[] = [
  {
    command: 'pytest',
    files: ['pytest.ini', '.pytest.ini', 'conftest.py'],
    pyproject: ['tool.pytest', 'tool.pytest.ini_options'],
    setupCfg: ['tool:pytest'],
    toxIni: ['pytest'],
  },
  { command: 'tox', files: ['tox.toml'], pyproject: ['tool.tox'], toxIni: ['tox', 'testenv'] },
  {
    command: 'ruff check',
    files: ['ruff.toml', '.ruff.toml'],
    pyproject: ['tool.ruff', 'tool.ruff.lint'],
  },
  {
    command: 'flake8',
    files: ['.flake8'],
    pyproject: [],
    setupCfg: ['flake8'],
    toxIni: ['flake8'],
  },
  {
    command: 'mypy',
    files: ['mypy.ini', '.mypy.ini'],
    pyproject: ['tool.mypy'],
    setupCfg: ['mypy'],
  },
  { command: 'pyright', files: ['pyrightconfig.json'], pyproject: ['tool.pyright'] },
];

async function fromPython(files: ProjectFiles): Promise<VerifyProposal[]> {
  const [pyproject = '', setupCfg = '', toxIni = ''] = await Promise.all(
    ['pyproject.toml', 'setup.cfg', 'tox.ini'].map(name => files.text(name)),
  );
  const project = sectionsOf(pyproject);
  const configs = [
    { source: 'pyproject.toml', sections: project, key: 'pyproject' },
    { source: 'setup.cfg', sections: sectionsOf(setupCfg), key: 'setupCfg' },
    { source: 'tox.ini', sections: sectionsOf(toxIni), key: 'toxIni' },
  ] as const;
  const runner = pythonRunner(files, project);
  const found: VerifyProposal[] = [];
  for (const tool of PYTHON_TOOLS) {
    const config = configs.find(({ sections, key }) => tool[key]?.some(name => sections.has(name)));
    const source =
      config?.source ??
      files.first(tool.files) ??
      (tool.command === 'pytest' && needsPytest(pyproject) ? 'pyproject.toml' : undefined);
    if (source !== undefined) {
      const lines =
        config === undefined
          ? linesOf(await files.text(source))
          : tool[config.key]?.flatMap(name => config.sections.get(name) ?? []);
      found.push({ command: runner + pythonCommand(tool.command, lines ?? []), source });
    }
  }
  return found;
}

function needsPytest(pyproject: string): boolean {
  return linesOf(pyproject).some(line =>
    /["']pytest(?:["'\s<>=~!;[@]|$)|^\s*pytest\s*=/.test(line),
  );
}

/** mypy does nothing unless somebody names the files: its configuration, or the command. */
function pythonCommand(command: string, config: readonly string[]): string {
  const namesFiles = config.some(line => /^\s*(?:files|packages|modules)\s*=/.test(line));
  return command === 'mypy' && !namesFiles ? 'mypy .' : command;
}

function pythonRunner(files: ProjectFiles, pyproject: Sections): string {
  if (files.has('uv.lock') || pyproject.has('tool.uv')) {
    return 'uv run ';
  }
  if (files.has('poetry.lock') || pyproject.has('tool.poetry')) {
    return 'poetry run ';
  }
  return files.has('pdm.lock') || pyproject.has('tool.pdm') ? 'pdm run ' : '';
}

async function fromRuby(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first(['Gemfile', 'gems.rb']);
  if (source === undefined) {
    return [];
  }
  const gemfile = await files.text(source);
  const hasGem = (name: string) =>
    new RegExp(`^[ \\t]*gem[ \\t(]+["']${name}["']`, 'm').test(gemfile);
  const usesRspec = hasGem('rspec') || hasGem('rspec-rails') || files.has('.rspec');
  const rakefile = files.first(['Rakefile', 'rakefile', 'Rakefile.rb', 'rakefile.rb']);
  const rake = await files.text(rakefile);
  const hasTestTask = /\bTestTask\b|^[ \t]*(?:multi)?task[ \t(]+:?["']?test\b/m.test(rake);
  return [
    ...proposals(source, usesRspec ? ['bundle exec rspec'] : []),
    ...proposals(rakefile ?? '', hasTestTask ? ['bundle exec rake test'] : []),
    // The Rakefile of a Rails application loads its tasks from the framework.
    ...proposals(
      source,
      hasGem('rails') && !usesRspec && !hasTestTask ? ['bundle exec rails test'] : [],
    ),
    ...proposals(
      source,
      hasGem('rubocop') || files.has('.rubocop.yml') ? ['bundle exec rubocop'] : [],
    ),
  ];
}

async function fromMaven(files: ProjectFiles): Promise<VerifyProposal[]> {
  const wrapper = files.has('mvnw') || files.has('mvnw.cmd');
  const program = wrapper ? files.own('mvnw', 'mvnw.cmd') : 'mvn';
  return files.has('pom.xml') ? proposals('pom.xml', [`${program} --batch-mode test`]) : [];
}

async function fromGradle(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first([
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
  ]);
  const wrapper = files.has('gradlew') || files.has('gradlew.bat');
  const program = wrapper ? files.own('gradlew', 'gradlew.bat') : 'gradle';
  return source === undefined ? [] : proposals(source, [`${program} check`]);
}

async function fromComposer(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = 'composer.json';
  if (!files.has(source)) {
    return [];
  }
  const scripts = asObject(asObject(parseJson(await files.text(source)))['scripts']);
  const named = CHECKS.filter(name => Object.hasOwn(scripts, name));
  const tool = (name: string) => (files.isWindows ? `vendor\\bin\\${name}` : `vendor/bin/${name}`);
  const phpunit = named.includes('test')
    ? undefined
    : files.first(['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml']);
  const phpstan = files.first(['phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon']);
  return [
    ...proposals(
      source,
      named.map(name => `composer run-script ${name}`),
    ),
    ...(phpunit === undefined ? [] : proposals(phpunit, [tool('phpunit')])),
    ...(phpstan === undefined ? [] : proposals(phpstan, [`${tool('phpstan')} analyse`])),
  ];
}

async function fromMix(files: ProjectFiles): Promise<VerifyProposal[]> {
  const text = await files.text('mix.exs');
  return text === ''
    ? []
    : proposals('mix.exs', ['mix test', ...(/\{\s*:credo\b/.test(text) ? ['mix credo'] : [])]);
}

async function fromDotnet(files: ProjectFiles): Promise<VerifyProposal[]> {
  const names = [...files.names].sort();
  const solutions = names.filter(name => /\.slnx?$/i.test(name));
  const projects = names.filter(name => /\.(?:cs|fs|vb)proj$/i.test(name));
  const [only, ...others] = [...solutions, ...projects];
  if (only === undefined) {
    return [];
  }
  if (others.length === 0) {
    return proposals(only, ['dotnet test']);
  }
  // With several in a folder, dotnet wants to be told which.
  return (solutions.length > 0 ? solutions : projects)
    .filter(name => PLAIN_NAME.test(name))
    .map(name => ({ command: `dotnet test ${name}`, source: name }));
}

/** The sections of a TOML or INI file: their names, and the lines below them. */
function sectionsOf(text: string): Sections {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of linesOf(text)) {
    const [, heading] = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:[#;].*)?$/.exec(line) ?? [];
    if (heading === undefined) {
      lines.push(line);
    } else {
      lines = [];
      sections.set(heading.replaceAll(/["'\s]/g, ''), lines);
    }
  }
  return sections;
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** JSON as tools write it, and as people do: comments are fine. */
function parseJson(text: string): unknown {
  try {
    return parseJsonc(text, [], { allowTrailingComma: true });
  } catch {
    // Nested deeper than the parser's stack: no build file.
    return undefined;
  }
}

function parseYamlText(text: string): unknown {
  try {
    return parseYaml(text, { logLevel: 'silent' });
  } catch {
    // Its own tool will say what is wrong with it.
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** @returns '' for what is no plain file, too large, or cannot be read: a proposal is no reason to fail */
async function readBounded(file: string): Promise<string> {
  try {
    // Opening a named pipe would wait for a writer for ever; Windows has no such flag.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size > 0 && stats.size <= MAX_FILE
        ? (await handle.readFile('utf8')).replace(/^\uFEFF/, '')
        : '';
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}
