import { asObject, linesOf, parseYamlText } from './configText.ts';
import { proposals, type VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

const TARGETS = ['test', 'check', 'lint'] as const;

/** Targets of make. */
export async function fromMakefile(files: ProjectFiles): Promise<VerifyProposal[]> {
  // In the order in which make looks for them.
  const source = files.first(['GNUmakefile', 'makefile', 'Makefile']);
  if (source === undefined) {
    return [];
  }
  const targets = new Set<string>();
  for (const line of linesOf(await files.text(source))) {
    const colon = line.indexOf(':');
    // A recipe line starts with a tab; `:=` and `::=` are assignments.
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

/** Recipes of just that take no argument. */
export async function fromJustfile(files: ProjectFiles): Promise<VerifyProposal[]> {
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

/** Tasks of Task. */
export async function fromTaskfile(files: ProjectFiles): Promise<VerifyProposal[]> {
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
