import { asObject, parseJson } from './configText.ts';
import { CHECKS, proposals, type VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

/** Scripts of package.json, run with the project's package manager. */
export async function fromPackageJson(files: ProjectFiles): Promise<VerifyProposal[]> {
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

/** Neither the placeholder of `npm init`, nor a script that would watch for changes. */
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

/** Tasks, and the commands built into deno. */
export async function fromDeno(files: ProjectFiles): Promise<VerifyProposal[]> {
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
    // Both are built into deno and need no task.
    ...(['test', 'lint'] as const)
      .filter(name => !named.includes(name))
      .map(name => `deno ${name}`),
  ]);
}

/** Scripts of composer.json, and the tools that have a configuration. */
export async function fromComposer(files: ProjectFiles): Promise<VerifyProposal[]> {
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
