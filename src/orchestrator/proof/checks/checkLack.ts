import { existsSync } from 'node:fs';
import path from 'node:path';
import { isOnPath } from '../../process/findProgram.ts';
import { scriptOf } from './checkScript.ts';
import { asObject } from './finders/configText.ts';
import { ProjectFiles } from './finders/projectFiles.ts';

/** Why a check cannot pass as things are. */
export type CheckLack =
  | {
      readonly kind: 'program';
      readonly program: string;
      /** It is one of the project's dependencies, which a shell does not find. */
      readonly isLocal: boolean;
    }
  /** There is no package.json. */
  | { readonly kind: 'manifest' }
  /** `isPlaceholder`: it is the one that `npm init` writes, which always fails. */
  | {
      readonly kind: 'script';
      readonly script: string;
      readonly manifest: string;
      readonly isPlaceholder?: true;
    };

interface CheckPlace {
  /** Absolute path of the folder in which the check runs. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

const MANIFEST = 'package.json';
/** With these, the scripts of a folder are elsewhere, too. */
const OTHER_MANIFESTS = ['package.json5', 'package.yaml'];
/** What a shell gives a meaning of its own, in `sh` or in `cmd.exe`: such a line may do anything. */
const OPERATORS = /[|&;<>()$`\\{}%^\r\n]/;
/** Commands of the shells themselves, in `sh` and in `cmd.exe`. */
const OF_SHELL: ReadonlySet<string> = new Set(
  `alias assoc bg bind break builtin caller call case cd chdir cls color command compgen complete continue copy coproc
   date declare del dir dirs disown do done echo enable endlocal erase eval exec exit export false fc fg for ftype
   function getopts goto hash help history if jobs kill let local logout md mkdir mklink move path pause popd printf
   prompt pushd pwd rd read readonly rem ren rename return rmdir select set setlocal shift shopt source start suspend
   test then time times title trap true type typeset ulimit umask unalias unset until ver verify vol wait while`.split(
    /\s+/,
  ),
);

/**
 * Why a check cannot pass as things are, if that is certain. Starts no program.
 * @param command a line of the platform's shell
 */
export async function lackOfCheck(
  command: string,
  { env, folder, platform = process.platform }: CheckPlace,
): Promise<CheckLack | undefined> {
  if (OPERATORS.test(command)) {
    return undefined;
  }
  const words = command.trim().split(/\s+/);
  const [program = ''] = words;
  if (
    /^\w[\w.+-]*$/.test(program) &&
    !OF_SHELL.has(program.toLowerCase()) &&
    !isOnPath(program, { cwd: folder, env, platform })
  ) {
    return { kind: 'program', program, isLocal: isLocal(program, folder) };
  }
  const script = scriptOf(words);
  return script === undefined ? undefined : lackOfScript(script, folder);
}

/** Whether a program is there that only a package manager finds. */
function isLocal(program: string, folder: string): boolean {
  const project = projectOf(folder);
  return project !== undefined && existsSync(path.join(project, 'node_modules', '.bin', program));
}

async function lackOfScript(script: string, folder: string): Promise<CheckLack | undefined> {
  const project = projectOf(folder);
  if (project === undefined) {
    return { kind: 'manifest' };
  }
  const isElsewhere = OTHER_MANIFESTS.some(name => existsSync(path.join(project, name)));
  const scripts = isElsewhere ? undefined : await scriptsIn(project);
  if (scripts === undefined) {
    return undefined;
  }
  const manifest = path.relative(folder, path.join(project, MANIFEST)).replaceAll('\\', '/');
  if (!Object.hasOwn(scripts, script)) {
    return { kind: 'script', script, manifest };
  }
  return /no test specified.*exit 1/i.test(String(scripts[script]).slice(0, 200))
    ? { kind: 'script', script, manifest, isPlaceholder: true }
    : undefined;
}

/** The folder itself or the nearest one above: there the package managers look. */
function projectOf(folder: string): string | undefined {
  if ([MANIFEST, ...OTHER_MANIFESTS].some(name => existsSync(path.join(folder, name)))) {
    return folder;
  }
  const above = path.dirname(folder);
  return above === folder ? undefined : projectOf(above);
}

/** @returns `undefined` if the file cannot be read: its package manager says why */
async function scriptsIn(project: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const text = await new ProjectFiles(project, [MANIFEST], process.platform).text(MANIFEST);
    return asObject(asObject(JSON.parse(text))['scripts']);
  } catch {
    return undefined;
  }
}
