import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/** What esbuild is told, but for what goes in and where it comes out. */
export type SplitOptions = BuildOptions & { readonly absWorkingDir: string };

/**
 * Bundles a program as one file with all that its start needs, and others that an `import()` loads. esbuild alone
 * would divide the start, too, by who else needs what: into some twenty files, and to find and load a file takes
 * longer than to read a little more of another.
 * @param entry relative to `absWorkingDir`
 * @param outdir absolute; it is there
 * @returns what has gone into the bundle
 */
export async function buildSplit(
  entry: string,
  outdir: string,
  options: SplitOptions,
): Promise<Metafile> {
  const name = path.basename(entry, '.ts');
  const folder = mkdtempSync(path.join(outdir, 'parts-'));
  try {
    const split = { splitting: true, chunkNames: `${name}-[name]-[hash]` };
    const { metafile } = await build({
      ...options,
      ...split,
      entryPoints: { [name]: entry },
      outdir: folder,
      metafile: true,
    });
    const parts = partsOf(metafile);
    const start = new StartFile(`${name}-start.js`, `${name}.js`, parts);
    const entries = [...parts].filter(([, { isEntry }]) => isEntry).map(([file]) => file);
    // Names were kept, and what stands at the top of each file was put there, when the parts were made.
    // Seen from the folder of the parts, whose name is another one each time and would stand in what is made.
    const joining: BuildOptions = {
      ...options,
      keepNames: false,
      banner: {},
      absWorkingDir: folder,
    };
    await Promise.all([
      build({
        ...joining,
        stdin: { contents: start.exportsAll(), resolveDir: folder },
        plugins: [start.withoutTheRest],
        outfile: path.join(outdir, start.name),
      }),
      build({
        ...joining,
        ...split,
        entryPoints: entries.map(file => ({
          in: path.join(folder, file),
          out: path.basename(file, '.js'),
        })),
        plugins: [start.inPlaceOfItsParts],
        outdir,
      }),
    ]);
    return metafile;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file of the bundle as esbuild has split it. */
interface Part {
  readonly exports: readonly string[];
  /** The parts that it loads before it runs. */
  readonly imports: readonly string[];
  /** Whether an `import()` loads it, and not only other parts. */
  readonly isEntry: boolean;
}

/** The parts by their names. */
function partsOf({ outputs }: Metafile): ReadonlyMap<string, Part> {
  return new Map(
    Object.entries(outputs).map(([file, { entryPoint, exports, imports }]) => [
      path.basename(file),
      {
        exports,
        imports: imports
          .filter(({ kind }) => kind === 'import-statement')
          .map(imported => path.basename(imported.path)),
        isEntry: entryPoint !== undefined,
      },
    ]),
  );
}

/** An import as esbuild writes it: its names, its file. */
const IMPORT = /import\s*(?:\{([^}]*)\}\s*from\s*)?"\.\/([\w.-]+)";/g;

/** The parts that are loaded at the start, as one file. */
class StartFile {
  readonly name: string;
  private readonly parts: ReadonlyMap<string, Part>;
  /** Names of the parts in it. */
  private readonly within: readonly string[];

  constructor(name: string, entry: string, parts: ReadonlyMap<string, Part>) {
    this.name = name;
    this.parts = parts;
    const within = new Set<string>();
    const follow = (file: string): void => {
      const part = parts.get(file);
      if (part !== undefined && !within.has(file)) {
        within.add(file);
        part.imports.forEach(follow);
      }
    };
    follow(entry);
    this.within = [...within];
  }

  /** Everything that its parts export, by names of which none is there twice. */
  exportsAll(): string {
    return this.within
      .map(file => {
        const names = this.names(file).map(({ name, unique }) => `${name} as ${unique}`);
        return `export { ${names.join(', ')} } from './${file}';\n`;
      })
      .join('');
  }

  /** For what is built of it: what is loaded later stays outside. */
  readonly withoutTheRest: Plugin = {
    name: 'without-the-rest',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\.\// }, ({ kind, path: file }) =>
        kind === 'import-statement' ? undefined : { path: file, external: true },
      );
    },
  };

  /** For what is loaded later: takes from this file what it had from a part of it. */
  readonly inPlaceOfItsParts: Plugin = {
    name: 'in-place-of-its-parts',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^\.\// }, ({ path: file }) =>
        this.parts.has(path.basename(file)) ? undefined : { path: file, external: true },
      );
      onLoad({ filter: /\.js$/ }, ({ path: file }) => ({
        contents: this.within.includes(path.basename(file))
          ? this.handOn(path.basename(file))
          : readFileSync(file, 'utf8').replaceAll(
              IMPORT,
              (whole: string, names: string | undefined, from: string) =>
                this.within.includes(from)
                  ? // As many lines as before, for the source map.
                    this.importFrom(from, names) + '\n'.repeat(whole.split('\n').length - 1)
                  : whole,
            ),
      }));
    },
  };

  /** In place of the program's first file. */
  private handOn(file: string): string {
    const names = this.names(file).map(({ name, unique }) => `${unique} as ${name}`);
    return `export { ${names.join(', ')} } from './${this.name}';\n`;
  }

  /** In place of an import from one of its parts, which has run already: where no name is taken, of nothing. */
  private importFrom(file: string, names = ''): string {
    const unique = new Map(this.names(file).map(known => [known.name, known.unique]));
    const list = names.split(',').flatMap(text => {
      const [name = '', local = name] = text.trim().split(/\s+as\s+/);
      if (name !== '' && !unique.has(name)) {
        throw new Error(`${file} does not export ${name}, which a later part imports.`);
      }
      return name === '' ? [] : [`${unique.get(name)} as ${local}`];
    });
    return list.length === 0 ? '' : `import { ${list.join(', ')} } from './${this.name}';`;
  }

  private names(file: string): { readonly name: string; readonly unique: string }[] {
    const index = this.within.indexOf(file);
    const names = this.parts.get(file)?.exports ?? [];
    return names.map(name => ({ name, unique: `${name}_${index}` }));
  }
}
