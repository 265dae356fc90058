import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { FaultWorkspace, type StoryFileKind, storyIds } from './faultWorkspace.ts';
import type { Random } from './random.ts';

const run = promisify(execFile);

/**
 * What the user's work tree is like during a run with lanes: `here` has the target branch checked out, without changes;
 * `edited` also with an edit in a file that no story changes, `held` with one in a file that stories change; `elsewhere`
 * has another branch checked out.
 */
export type Tree = 'here' | 'edited' | 'held' | 'elsewhere';

/** What a story does in the fake agent (test/support/fakeAgents/diligent.mjs). */
interface StoryPlan {
  readonly commits: number;
  readonly isShared: boolean;
  readonly pair?: { readonly name: string; readonly own: string; readonly other: string };
}

/** The circumstances of a run with lanes. */
export interface LaneWorld {
  readonly lanes: number;
  readonly tree: Tree;
  readonly storyFile: StoryFileKind;
  readonly hasProgress: boolean;
  readonly isThresholdLow: boolean;
  readonly checkMs: number;
  readonly manner: {
    readonly order: 'commitFirst' | 'tickFirst';
    readonly paceMs: number;
    readonly outlives: boolean;
    readonly children: readonly string[];
    readonly plans: Readonly<Record<string, StoryPlan>>;
  };
}

export function drawLaneWorld(random: Random, stories: number, lanes: number): LaneWorld {
  const ids = storyIds(stories);
  const plans: Record<string, StoryPlan> = {};
  for (const id of ids) {
    plans[id] = { commits: random.whole(1, 3), isShared: random.chance(0.35) };
  }
  // Neighbors work at the same time.
  for (let at = 0; at + 1 < ids.length; at += 2) {
    const [one = '', two = ''] = [ids[at], ids[at + 1]];
    if (random.chance(0.35)) {
      const pair = (own: string, other: string) => ({ name: `${one}-${two}`, own, other });
      plans[one] = { commits: 1, isShared: false, ...plans[one], pair: pair('left', 'right') };
      plans[two] = { commits: 1, isShared: false, ...plans[two], pair: pair('right', 'left') };
    }
  }
  return {
    lanes,
    tree: random.chance(0.5) ? 'here' : random.pick(['edited', 'held', 'elsewhere']),
    storyFile: random.pick(['tracked', 'untracked', 'ignored']),
    hasProgress: random.chance(0.5),
    isThresholdLow: random.chance(0.2),
    checkMs: random.whole(0, 300),
    manner: {
      order: random.chance(0.7) ? 'commitFirst' : 'tickFirst',
      paceMs: random.whole(0, 60),
      outlives: random.chance(0.5),
      children: ids.filter(() => random.chance(0.1)),
      plans,
    },
  };
}

const OTHER_BRANCH = 'ralph/lanes';
export const USER_EDIT = 'a line of the user\n';

/** The repository of such a run. */
export async function createLaneWorkspace(
  stories: number,
  world: LaneWorld,
): Promise<FaultWorkspace> {
  const { checkMs, hasProgress, lanes, manner, storyFile, tree } = world;
  const workspace = await FaultWorkspace.create(stories, {
    ...{ agent: 'diligent', manner, storyFile },
    ...(tree === 'elsewhere' && { branch: OTHER_BRANCH }),
    files: {
      'verify.mjs': VERIFY,
      'shared.txt': 'stories:\n',
      'readme.txt': 'Nothing changes this file.\n',
      ...(hasProgress && { '.omc/progress.txt': '# Progress\n\n## Patterns\n- Keep it small\n\n' }),
    },
    args: [
      ...['--lanes', `${lanes}`, '--max-iterations', '1000', '--stuck-threshold', '1000'],
      ...['--fail-threshold', `${failThreshold(world)}`, '--retry-delay', '0.01'],
      ...['--verify', `node verify.mjs ${checkMs}`],
    ],
  });
  if (tree === 'edited' || tree === 'held') {
    const file = tree === 'edited' ? 'readme.txt' : 'shared.txt';
    await appendFile(path.join(workspace.folder, file), USER_EDIT);
  }
  return workspace;
}

/** After how many failures in a row a story is left alone. */
export function failThreshold({ isThresholdLow }: LaneWorld): number {
  return isThresholdLow ? 4 : 1_000;
}

export function targetBranch({ tree }: LaneWorld): string {
  return tree === 'elsewhere' ? OTHER_BRANCH : 'main';
}

/** Bytes and modes of everything in the index and the work tree, by path; but not what is ours. */
export async function userFiles(
  workspace: FaultWorkspace,
): Promise<{ readonly index: string; readonly files: ReadonlyMap<string, string> }> {
  const isOurs = (file: string) =>
    /^\.omc\/(?:prd\.json|progress\.txt|state\/|ralph|handoff|.*\.log)/.test(file);
  const [index, names] = await Promise.all([
    workspace.git('ls-files', '--stage', '-z'),
    workspace.git('ls-files', '--cached', '--others', '-z'),
  ]);
  const files = new Map<string, string>();
  for (const name of new Set(names.split('\0'))) {
    if (name !== '' && !isOurs(name)) {
      files.set(name, hashOf(path.join(workspace.folder, name)));
    }
  }
  return { index, files };
}

function hashOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return 'gone';
  }
}

/** Runs the check of the runs on a fresh clone at a commit. @returns what is wrong, or '' */
export async function verifyFresh(folder: string, commit: string): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => run('git', args, { cwd: folder, env });
  await git('checkout', '--quiet', '--force', '--detach', commit);
  await git('clean', '-ffdxq');
  try {
    await run(process.execPath, ['verify.mjs', '0'], { cwd: folder, env });
    return '';
  } catch (error) {
    return (error as { stdout?: string }).stdout || String(error);
  }
}

/** A clone of the user's repository that has all its objects. */
export async function freshClone(workspace: FaultWorkspace): Promise<string> {
  const folder = path.join(workspace.root, 'fresh');
  await workspace.git('clone', '--quiet', '--shared', '--no-checkout', workspace.folder, folder);
  await writeFile(path.join(folder, '.git', 'info', 'exclude'), '');
  return folder;
}

/** The check of the runs. It fails for half a story, a repeated one, and for both of a pair that nobody has joined. */
const VERIFY = `import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
const notes = process.env.FAKE_AGENT_NOTES;
if (notes) {
  appendFileSync(path.join(notes, 'agents.jsonl'), JSON.stringify({ check: process.pid }) + '\\n');
}
const problems = [];
for (const name of existsSync('work') ? readdirSync('work') : []) {
  const id = path.parse(name).name;
  const wanted = ['one', 'two', 'three'].map(part => id + ': part ' + part + '\\n').join('');
  if (readFileSync(path.join('work', name), 'utf8') !== wanted) problems.push('torn: ' + name);
}
const list = readFileSync('shared.txt', 'utf8');
const ids = list.trimEnd().split(' ').slice(1);
if (!/^stories:( US-\\d+)*\\n$/.test(list)) problems.push('not a list: ' + list);
if (new Set(ids).size < ids.length) problems.push('twice in ' + list);
const pairs = existsSync('pairs') ? readdirSync('pairs') : [];
for (const name of pairs.filter(file => file.endsWith('.left')).map(file => path.parse(file).name)) {
  if (pairs.includes(name + '.right') && !pairs.includes(name + '.joined')) {
    problems.push('red together: ' + name);
  }
}
await new Promise(resolve => setTimeout(resolve, Number(process.argv[2])));
console.log(problems.join('\\n'));
process.exit(problems.length === 0 ? 0 : 1);
`;
