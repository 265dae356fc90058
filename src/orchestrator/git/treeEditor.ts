import { runGit, writeGit } from './runGit.ts';

const MAX_NAMES = 100;

/** Changes single files of trees, with a separate index. */
export class TreeEditor {
  private readonly dir: string;
  private readonly env: Readonly<Record<string, string>>;

  /** @param indexFile absolute path of a file that does not exist yet */
  constructor(dir: string, indexFile: string) {
    this.dir = dir;
    this.env = { GIT_INDEX_FILE: indexFile };
  }

  /** @returns `tree` with these files from `from` */
  async copy(tree: string, from: string, files: readonly string[]): Promise<string> {
    const entries = await this.entries(from, files);
    return this.edit(
      tree,
      files.map(file => {
        const { mode, object } = entries.get(file) ?? {
          mode: '0',
          object: '0'.repeat(from.length),
        };
        return `${mode} ${object}\t${file}`;
      }),
    );
  }

  /** @returns `tree` with new contents of these files, with their modes in `head` */
  async write(
    tree: string,
    head: string,
    contents: readonly { readonly file: string; readonly content: Buffer }[],
  ): Promise<string> {
    const entries = await this.entries(
      head,
      contents.map(({ file }) => file),
    );
    const lines: string[] = [];
    for (const { content, file } of contents) {
      const object = await writeGit(this.dir, ['hash-object', '-w', '--stdin'], {
        input: content.toString(),
      });
      lines.push(`${entries.get(file)?.mode ?? '100644'} ${object.trim()}\t${file}`);
    }
    return this.edit(tree, lines);
  }

  private async edit(tree: string, lines: readonly string[]): Promise<string> {
    await this.run(['read-tree', tree]);
    await this.run(['update-index', '-z', '--index-info'], lines.map(line => `${line}\0`).join(''));
    return (await this.run(['write-tree'])).trim();
  }

  private async entries(
    commit: string,
    files: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly mode: string; readonly object: string }>> {
    // As arguments, many names would be too long for the system.
    const named = files.length > MAX_NAMES ? [] : files;
    const output = await runGit(
      this.dir,
      ...['--no-optional-locks', '--literal-pathspecs'],
      ...['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...named],
    );
    return new Map(
      output.split('\0').flatMap(line => {
        const [, mode, object, file] = /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
        return mode === undefined || object === undefined || file === undefined
          ? []
          : [[file, { mode, object }] as const];
      }),
    );
  }

  private async run(args: readonly string[], input = ''): Promise<string> {
    return writeGit(this.dir, args, { input, moreEnv: this.env });
  }
}
