import { setImmediate as nextTurn } from 'node:timers/promises';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { fileHistory } from '../../git/fileHistory.ts';
import { GitRepository } from '../../git/git.ts';
import { gitResult } from '../../git/runGit.ts';
import { blobSizes, blobTexts, type TreeFile, treeFiles } from '../../git/treeFiles.ts';
import { prefixOf } from '../codePointers.ts';
import { definitionsIn } from '../fileWords.ts';
import { isGenerated, isModerate, isShownPath } from '../sourceFile.ts';
import type { CodeSymbol } from '../symbols/symbol.ts';
import { symbolsOf } from '../symbols/symbolsOf.ts';
import { parentOf } from './folders.ts';
import type { FileFacts } from './keywords.ts';
import { librariesIn } from './libraries.ts';
import { isSpecPath, type SpecDocument, specDocument } from './specDocuments.ts';
import type { CodeFacts } from './updatePin.ts';

/** The committed code of a project. */
export interface ProjectCode extends CodeFacts {
  /** Paths of all committed files, relative to the project. */
  readonly paths: ReadonlySet<string>;
}

/** How far back the history is read, in commits. */
const HISTORY = 2_000;
/** Files that are read at once. */
const CHUNK = 200;
/** What is parsed at most, in UTF-16 units: after that, definitions are only searched for. */
const MAX_PARSED = 8_000_000;
const MAX_SPEC_BYTES = 200_000;
/** Of a file. */
const MAX_SYMBOLS = 60;
const MAX_SIGNATURES = 8;
/** Documents and settings are part of a project, but not of its code. */
const NO_CODE = /\.(?:md|json|ya?ml|toml|html)$/i;

/**
 * Reads the code of a project as it is committed: no secrets, nothing generated, nothing that git ignores.
 * @param dir may be a folder within its repository
 * @throws {HumanError} without a work tree, or if there is no commit
 */
export async function readProjectCode(dir: string): Promise<ProjectCode> {
  await requireWorkTree(dir);
  const { code } = await gitResult(dir, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (code !== 0) {
    throw new HumanError(
      say(
        '{0} has no commits, and the Pin is made from committed files. Commit them, then try again.',
        dir,
      ),
    );
  }
  const prefix = await prefixOf(dir);
  const own = (path: string) => path.slice(prefix.length);
  const tree = (await treeFiles(dir, 'HEAD'))
    .filter(({ path }) => path.startsWith(prefix))
    .map(file => ({ ...file, path: own(file.path) }));
  const paths = new Set(tree.map(({ path }) => path));
  const sources = await upTo(
    isModerate,
    dir,
    tree.filter(({ path }) => isShownPath(path) && !NO_CODE.test(path)),
  );
  const [files, specs] = [await readFiles(dir, sources), await readSpecs(dir, tree)];
  const known = new Set(files.map(({ path }) => prefix + path));
  const history = await fileHistory(dir, {
    ...{ at: 'HEAD', limit: HISTORY },
    isKnown: path => known.has(path),
  });
  const commits = history.map(commit => ({ ...commit, files: commit.files.map(own) }));
  return { paths, files, specs, commits };
}

/** The Pin is a file of the project. */
async function requireWorkTree(dir: string): Promise<void> {
  const { code, stdout } = await gitResult(dir, ['rev-parse', '--is-inside-work-tree']);
  if (code === 0 && stdout.toString('utf8').trim() !== 'true') {
    throw new HumanError(
      say(
        '{0} has no work tree in which the Pin could be. Make one (git worktree add ../work), then run ralph-fresh pin there.',
        dir,
      ),
    );
  }
  if (code !== 0 && (await new GitRepository(dir).root()) === undefined) {
    throw new HumanError(
      say(
        '{0} is not in a git repository, and the Pin is made from committed files. Run "git init" there, commit, and try again.',
        dir,
      ),
    );
  }
}

/**
 * The commit since which a path is gone, shortened.
 * @returns `undefined` if it never was there
 */
export async function goneSince(dir: string, path: string): Promise<string | undefined> {
  const { code, stdout } = await gitResult(dir, [
    ...['--literal-pathspecs', 'log', '-1', '--no-show-signature', '--format=%H', '--', path],
  ]);
  const hash = stdout.toString('utf8').trim();
  return code === 0 && hash !== '' ? hash.slice(0, 10) : undefined;
}

async function readFiles(dir: string, sources: readonly TreeFile[]): Promise<FileFacts[]> {
  const names = ownNames(sources);
  const isOwn = (name: string) => names.has(name);
  const facts: FileFacts[] = [];
  let left = MAX_PARSED;
  for (let at = 0; at < sources.length; at += CHUNK) {
    const chunk = sources.slice(at, at + CHUNK);
    const texts = await blobTexts(
      dir,
      chunk.map(({ blob }) => blob),
    );
    for (const [i, { path }] of chunk.entries()) {
      const text = texts[i];
      if (text !== undefined && !isGenerated(text)) {
        left -= text.length;
        const names = namesIn(path, text, left > 0);
        facts.push(copyOf({ path, ...names, libraries: [...librariesIn(path, text, isOwn)] }));
        // Git and signals have their turn.
        await nextTurn();
      }
    }
  }
  return facts;
}

/** A copy whose texts are not parts of a larger one, which would be kept in memory as a whole. */
function copyOf(facts: FileFacts): FileFacts {
  return JSON.parse(JSON.stringify(facts)) as FileFacts;
}

/** Names of folders and files of the project: what it imports by them is its own. */
function ownNames(sources: readonly TreeFile[]): Set<string> {
  const names = new Set<string>();
  for (const { path } of sources) {
    names.add(path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, ''));
    for (const part of parentOf(path).split('/')) {
      names.add(part);
    }
  }
  return names;
}

/** Constants have no signature: their values may be secrets. */
function namesIn(
  path: string,
  text: string,
  mayParse: boolean,
): Pick<FileFacts, 'signatures' | 'symbols'> {
  const found = mayParse ? symbolsOf(path, text).filter(isTold) : [];
  return found.length === 0
    ? { symbols: [...new Set(definitionsIn(text))].slice(0, MAX_SYMBOLS), signatures: [] }
    : {
        symbols: [...new Set(found.map(({ name }) => name))].slice(0, MAX_SYMBOLS),
        signatures: found
          .filter(({ kind }) => kind !== 'constant' && kind !== 'method')
          .slice(0, MAX_SIGNATURES)
          .map(({ signature }) => signature),
      };
}

function isTold({ isExported }: CodeSymbol): boolean {
  return isExported !== false;
}

/** The files whose size is moderate. */
async function upTo(
  isSize: (bytes: number) => boolean,
  dir: string,
  files: readonly TreeFile[],
): Promise<TreeFile[]> {
  const sizes = await blobSizes(
    dir,
    files.map(({ blob }) => blob),
  );
  return files.filter(({ blob }) => isSize(sizes.get(blob) ?? Number.POSITIVE_INFINITY));
}

async function readSpecs(dir: string, tree: readonly TreeFile[]): Promise<SpecDocument[]> {
  const specs = await upTo(
    size => size < MAX_SPEC_BYTES,
    dir,
    tree.filter(({ path }) => isSpecPath(path)),
  );
  const texts = await blobTexts(
    dir,
    specs.map(({ blob }) => blob),
  );
  return specs.map(({ path }, i) => specDocument(path, texts[i] ?? ''));
}
