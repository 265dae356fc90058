import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type ClonePlace,
  ClonePlaces,
  type ClonePlacesOptions,
  type PlaceStart,
} from '../../src/orchestrator/places/clonePlaces.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from './cleanEnv.ts';
import { type GitFolder, gitFolder } from './gitFolder.ts';

/** Prefix of the refs for work that is kept before a place is used again. */
export const WORK = 'refs/ralph-fresh/work/abc123/';

/** A user's repository with places next to it. */
export class UserOfPlaces {
  readonly temp: TempDir;
  /** The user's repository, and the same of any other folder. */
  readonly user: GitFolder;
  readonly root: string;
  readonly folder: string;
  private readonly taken: ClonePlace[] = [];
  private readonly all: ClonePlaces[] = [];

  private constructor(temp: TempDir) {
    this.temp = temp;
    this.root = path.join(temp.path, 'user');
    this.folder = path.join(temp.path, 'cache', 'places', 'abc123');
    this.user = this.at(this.root);
  }

  /** @param files of the first commit */
  static async make(files: Readonly<Record<string, string>> = {}): Promise<UserOfPlaces> {
    const made = new UserOfPlaces(await tempDir('ralph-places-'));
    await mkdir(made.root);
    for (const [file, content] of Object.entries({
      'a.txt': 'a\n',
      'src/b.txt': 'b\n',
      ...files,
    })) {
      await made.user.write(file, content);
    }
    await gitRepo(made.root);
    return made;
  }

  /** What somebody does in a folder with git. */
  at(folder: string): GitFolder {
    return gitFolder(() => ({ folder, home: this.temp.path }));
  }

  places(options: Partial<ClonePlacesOptions> = {}): ClonePlaces {
    const { folder, root } = this;
    const env = cleanEnv({ home: this.temp.path });
    const places = new ClonePlaces({
      ...{ workspace: root, root, folder, runId: 'run-1', env },
      workRef: ({ iteration, runId, storyId }) => `${WORK}${runId}/${storyId}/${iteration}`,
      ...options,
    });
    this.all.push(places);
    return places;
  }

  /** Takes a place at HEAD of the user. */
  async take(
    name = 'lane-1',
    options: Partial<ClonePlacesOptions> = {},
    start: Partial<PlaceStart> = {},
  ): Promise<ClonePlace> {
    const commit = start.commit ?? (await this.user.head());
    const place = await this.places(options).take(name, { branch: 'main', ...start, commit });
    this.taken.push(place);
    return place;
  }

  /** Takes it, lets an agent work in it, and gives it back. */
  async workIn(
    work: (agent: GitFolder, place: ClonePlace) => Promise<unknown>,
    name = 'lane-1',
    options: Partial<ClonePlacesOptions> = {},
  ): Promise<ClonePlace> {
    const place = await this.take(name, options);
    await work(this.at(place.root), place);
    await place.dispose();
    return place;
  }

  /** The refs of the user's repository below a prefix, by name without it. */
  async refs(prefix: string): Promise<Record<string, string>> {
    const output = await this.user.git('for-each-ref', '--format=%(refname) %(objectname)');
    return Object.fromEntries(
      output
        .split('\n')
        .filter(line => line.startsWith(prefix))
        .map(line => line.slice(prefix.length).split(' ') as [string, string]),
    );
  }

  /** The files of a commit, with their contents. */
  async filesOf(commit: string): Promise<Record<string, string>> {
    const list = await this.user.git('ls-tree', '-r', '-z', '--name-only', commit);
    const names = list.split('\0').filter(name => name !== '');
    const contents = names.map(async name => [
      name,
      await this.user.git('show', `${commit}:${name}`),
    ]);
    return Object.fromEntries(await Promise.all(contents));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.taken.map(place => place.dispose()));
    await Promise.all(this.all.map(places => places.tidied()));
    await this.temp.remove();
  }
}

/** Files below a folder, by absolute path. */
export async function writeAll(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

export const textOf = (...parts: readonly string[]): Promise<string> =>
  readFile(path.join(...parts), 'utf8');
