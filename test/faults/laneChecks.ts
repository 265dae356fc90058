import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { Target } from '../../src/orchestrator/landing/target.ts';
import { ClonePlaces } from '../../src/orchestrator/places/clonePlaces.ts';
import { placesFolder } from '../../src/orchestrator/places/placesFolder.ts';
import { keptStoryWork } from '../../src/orchestrator/workspace/keptStoryWork.ts';
import { tipRef, workRef } from '../../src/orchestrator/workspace/workRefs.ts';
import {
  handoffViolations,
  journalViolations,
  processViolations,
  stateViolations,
  timesOtherThanOnce,
} from './checks.ts';
import type { FaultWorkspace } from './faultWorkspace.ts';
import { lastEnd, runIdsNow, wholeJournal } from './journalTail.ts';
import {
  failThreshold,
  freshClone,
  type LaneWorld,
  targetBranch,
  USER_EDIT,
  userFiles,
  verifyFresh,
} from './laneWorld.ts';

/** What was there before the run. */
export interface Before {
  readonly head: string;
  readonly user: Awaited<ReturnType<typeof userFiles>>;
}

/** What is wrong with a workspace after a run with lanes that was killed repeatedly and has ended. */
export async function laneViolations(
  workspace: FaultWorkspace,
  world: LaneWorld,
  before: Before,
): Promise<string[]> {
  const journals = runIdsNow(workspace.files).map(runId => wholeJournal(workspace.files, runId));
  if (journals.length === 0) {
    return ['there is no journal'];
  }
  const events = journals.flat();
  const processes = await processViolations(workspace);
  return [
    ...processes,
    ...journals.flatMap(list => journalViolations(list, ['completed', 'noReadyStory'])),
    ...journals.flatMap(list => leftAloneViolations(list, failThreshold(world))),
    ...(await conflictViolations(workspace, events)),
    ...(await exitViolations(workspace, world, events)),
    ...(await landingViolations(workspace, world, events, before.head)),
    ...(await reachViolations(workspace, world)),
    ...(await keptViolations(workspace, world, events)),
    ...(await treeViolations(workspace, world, before)),
    ...storyFileViolations(workspace, events),
    ...handoffViolations(workspace.files),
    ...stateViolations(workspace.files),
    ...(await placeViolations(workspace, world)),
    ...(world.tree === 'held' ? await catchUpViolations(workspace) : []),
  ];
}

/** Stories that failed too often, as the journal says: those that the last run has left. */
function leftAlone(events: readonly RunEvent[]): readonly string[] {
  const last = lastEnd(events);
  return last?.outcome === 'noReadyStory' ? (last.open ?? []) : [];
}

/**
 * A run may leave stories alone, and a stop that comes in that moment makes the next loop a new run. But it needs a
 * reason for each of them: as many failures in a row as the limit says, and for each refusal what was returned.
 */
function leftAloneViolations(events: readonly RunEvent[], limit: number): string[] {
  const alone = leftAlone(events);
  const inRow = new Map<string, number>();
  const returned = new Set<number>();
  const violations: string[] = [];
  for (const event of events) {
    if (event.type === 'landing.returned') {
      returned.add(event.iteration);
    }
    if (event.type !== 'iteration.ended' || event.storyId === undefined) {
      continue;
    }
    const { iteration, outcome, storyId } = event;
    if (outcome === 'failed' || outcome === 'rejected') {
      inRow.set(storyId, (inRow.get(storyId) ?? 0) + 1);
    } else if (outcome !== 'stopped' && outcome !== 'skipped') {
      inRow.delete(storyId);
    }
    if (outcome === 'rejected' && !returned.has(iteration)) {
      violations.push(`iteration ${iteration} of ${storyId} is refused without a return`);
    }
  }
  const isNamed = events.some(event => event.type === 'warning' && event.code === 'storyLeftAlone');
  return [
    ...violations,
    ...alone.flatMap(id => {
      const times = inRow.get(id) ?? 0;
      return times === limit
        ? []
        : [`${id} is left alone after ${times} failures in a row and not after ${limit}`];
    }),
    ...(alone.length > 0 && !isNamed ? [`${alone.join()} left alone without a reason`] : []),
  ];
}

/** Work is returned for a conflict only if both the agent and what has landed changed each file of it. */
async function conflictViolations(
  workspace: FaultWorkspace,
  events: readonly RunEvent[],
): Promise<string[]> {
  const violations: string[] = [];
  for (const event of events) {
    if (event.type !== 'landing.returned' || event.reason !== 'conflict') {
      continue;
    }
    const { base, files = [], head, iteration, onto, storyId } = event;
    const changed = async (to: string) =>
      (await workspace.git('diff', '--name-only', '-z', base, to)).split('\0');
    const [own, others] = [await changed(head), await changed(onto)];
    const strange = files.filter(file => !own.includes(file) || !others.includes(file));
    if (files.length === 0 || strange.length > 0) {
      violations.push(
        `iteration ${iteration} of ${storyId} was returned for a conflict that is none: ${strange.join()}`,
      );
    }
  }
  return violations;
}

/** A complete run is a success if the branch has everything, and only then. */
async function exitViolations(
  workspace: FaultWorkspace,
  world: LaneWorld,
  events: readonly RunEvent[],
): Promise<string[]> {
  const last = lastEnd(events);
  const own = (await workspace.git('rev-parse', `refs/heads/${targetBranch(world)}`)).trim();
  const isHeld = (await tipOf(workspace, world)) !== own;
  const wanted = last?.outcome === 'completed' && !isHeld ? 0 : 1;
  return last === undefined || last.exitCode === wanted
    ? []
    : [`the last run ended with ${last.exitCode} and not ${wanted}`];
}

/** The commit with everything that has landed. */
async function tipOf(workspace: FaultWorkspace, world: LaneWorld): Promise<string> {
  const branch = targetBranch(world);
  const ref = tipRef(workspace.folder, branch);
  const name = (await workspace.git('for-each-ref', '--format=%(objectname)', ref)).trim();
  const own = (await workspace.git('rev-parse', `refs/heads/${branch}`)).trim();
  // A tip that the branch has already is no more than a leftover.
  return name === '' || (await isIn(workspace, name, own)) ? own : name;
}

async function isIn(workspace: FaultWorkspace, commit: string, tip: string): Promise<boolean> {
  return (await workspace.git('rev-list', '--max-count=1', commit, `^${tip}`)).trim() === '';
}

async function landingViolations(
  workspace: FaultWorkspace,
  world: LaneWorld,
  events: readonly RunEvent[],
  start: string,
): Promise<string[]> {
  const alone = leftAlone(events);
  const expected = workspace.storyIds.filter(id => !alone.includes(id));
  const landed = events.flatMap(event => (event.type === 'landing.landed' ? [event.storyId] : []));
  const done = events.flatMap(event =>
    event.type === 'iteration.ended' && event.outcome === 'storyDone' ? [event.storyId ?? '?'] : [],
  );
  const tip = await tipOf(workspace, world);
  const line = (
    await workspace.git(
      ...['log', '--first-parent', '--reverse', '-z', `${start}..${tip}`],
      '--format=%H %(trailers:key=Ralph-Story,valueonly,separator=%x2C)',
    )
  )
    .split('\0')
    .filter(entry => entry.trim() !== '')
    .map(entry => entry.trim().split(' '));
  const recorded = events.flatMap(event => (event.type === 'commit.recorded' ? [event.hash] : []));
  const fresh = await freshClone(workspace);
  const red: string[] = [];
  for (const [hash = ''] of line) {
    const problem = await verifyFresh(fresh, hash);
    if (problem !== '') {
      red.push(`commit ${hash} of the branch is red: ${problem.trim()}`);
    }
  }
  const missing = expected.filter(id => !existsSync(path.join(fresh, 'work', `${id}.txt`)));
  const { plans } = world.manner;
  const list = readFileSync(path.join(fresh, 'shared.txt'), 'utf8').trimEnd().split(' ');
  const unlisted = expected.filter(id => plans[id]?.isShared && !list.includes(id));
  rmSync(fresh, { recursive: true, force: true });
  return [
    ...timesOtherThanOnce(expected, landed).map(text => `in the journal ${text} landed`),
    ...timesOtherThanOnce(expected, done).map(text => `in the journal ${text} done`),
    ...timesOtherThanOnce(
      expected,
      line.map(([, story = 'somebody']) => story),
    ).map(text => `on the branch work of ${text}`),
    ...timesOtherThanOnce(
      line.map(([hash = '']) => hash),
      recorded,
    ).map(text => `in the journal commit ${text} recorded`),
    ...red,
    ...missing.map(id => `the work of ${id} is not on the branch`),
    ...unlisted.map(id => `the line of ${id} is not on the branch`),
  ];
}

/** Commits of agents that a person does not find: on the branch, waiting for it, kept as work, or discarded. */
async function reachViolations(workspace: FaultWorkspace, world: LaneWorld): Promise<string[]> {
  const made = new Set(workspace.notes().flatMap(({ commit }) => commit ?? []));
  const held = await workspace.git(
    ...['rev-list', `refs/heads/${targetBranch(world)}`],
    ...['landed', 'work', 'discarded'].map(kind => `--glob=refs/ralph-fresh/${kind}/`),
  );
  const all = new Set(held.split('\n'));
  return [...made].filter(hash => !all.has(hash)).map(hash => `commit ${hash} is lost`);
}

/** What `places` says of the work of agents: all that has not landed, and nothing else. */
async function keptViolations(
  workspace: FaultWorkspace,
  world: LaneWorld,
  events: readonly RunEvent[],
): Promise<string[]> {
  const storiesOf = (isMeant: (event: RunEvent) => boolean) =>
    new Set(events.flatMap(event => (isMeant(event) && 'storyId' in event ? event.storyId : [])));
  const landed = storiesOf(({ type }) => type === 'landing.landed');
  // The next agent started without that work: after a conflict, or in a new run.
  const replaced = storiesOf(
    event => event.type === 'landing.returned' && event.reason === 'conflict',
  );
  for (const event of events) {
    if (event.type === 'run.ended' && event.outcome === 'noReadyStory') {
      for (const id of event.open ?? []) {
        replaced.add(id);
      }
    }
  }
  const made = new Set(workspace.notes().flatMap(({ commit }) => commit ?? []));
  const tip = await tipOf(workspace, world);
  const violations: string[] = [];
  for (const { commits, isLanded, refs, storyId } of await keptStoryWork(workspace.files)) {
    const open = refs.flatMap(ref => (ref.isLanded ? [] : [ref.name]));
    if (!isLanded && landed.has(storyId) && !replaced.has(storyId)) {
      violations.push(`${storyId} has landed, and is listed as work that has not: ${open.join()}`);
    }
    if (!landed.has(storyId)) {
      const all = await workspace.git('rev-list', ...refs.map(({ name }) => name), `^${tip}`);
      const listed = new Set(commits.map(({ hash }) => hash));
      const missing = all.split('\n').filter(hash => made.has(hash) && !listed.has(hash));
      violations.push(...missing.map(hash => `commit ${hash} of ${storyId} is not listed`));
    }
  }
  const prefix = 'refs/ralph-fresh/places/';
  const names = await workspace.git('for-each-ref', '--format=%(refname:lstrip=4)', prefix);
  const strange = names
    .split('\n')
    .filter(name => name !== '' && !/^(?:lane-\d+|queue|aside\/.*)$/.test(name));
  return [...violations, ...strange.map(name => `nobody lists ${prefix}…/${name}`)];
}

/** The user's files and index, which only fast-forwards change. */
async function treeViolations(
  workspace: FaultWorkspace,
  world: LaneWorld,
  before: Before,
): Promise<string[]> {
  const now = await userFiles(workspace);
  const violations: string[] = [];
  const branch = (await workspace.git('symbolic-ref', '--short', 'HEAD')).trim();
  if (branch !== 'main') {
    violations.push(`the user's HEAD is on ${branch}`);
  }
  for (const entry of readdirSync(path.join(workspace.folder, '.git'))) {
    if (entry.endsWith('.lock')) {
      violations.push(`${entry} is left in the user's repository`);
    }
  }
  if (world.tree === 'elsewhere') {
    if (now.index !== before.user.index) {
      violations.push("the user's index has changed");
    }
    for (const name of new Set([...now.files.keys(), ...before.user.files.keys()])) {
      if (now.files.get(name) !== before.user.files.get(name)) {
        violations.push(`the user's file ${name} has changed`);
      }
    }
    return violations;
  }
  const edited = { edited: 'readme.txt', held: 'shared.txt', here: '' }[world.tree];
  const changed = (await workspace.git('status', '--porcelain', '-uall', '-z'))
    .split('\0')
    .filter(entry => entry !== '' && !/^.. \.omc\/(?:prd\.json|progress\.txt)$/.test(entry));
  const expected = edited === '' ? [] : [` M ${edited}`];
  if (changed.join() !== expected.join()) {
    violations.push(`the user's tree has changes: ${changed.join()}`);
  }
  if (edited !== '') {
    const text = readFileSync(path.join(workspace.folder, edited), 'utf8');
    if (before.user.files.get(edited) !== now.files.get(edited) || !text.endsWith(USER_EDIT)) {
      violations.push(`the user's edit in ${edited} is gone`);
    }
  }
  if (world.tree !== 'held') {
    const ref = tipRef(workspace.folder, 'main');
    const tip = (await workspace.git('for-each-ref', '--format=%(objectname)', ref)).trim();
    if (tip !== '') {
      violations.push('the branch is not at the tip, although nothing holds it');
    }
  }
  return violations;
}

function storyFileViolations(workspace: FaultWorkspace, events: readonly RunEvent[]): string[] {
  const alone = leftAlone(events);
  const file = JSON.parse(readFileSync(workspace.storyFile, 'utf8'));
  const expected = workspace.storyIds.map((id, i) => ({
    ...{ id, title: `Story ${id}`, acceptanceCriteria: ['It has three parts'] },
    ...{ priority: i + 1, passes: !alone.includes(id), estimate: { points: i } },
  }));
  const isAsExpected = JSON.stringify(file.userStories) === JSON.stringify(expected);
  const progress = readOrNothing(path.join(workspace.folder, '.omc', 'progress.txt'));
  const entries = progress.split('\n').flatMap(line => /^## (US-\d+)$/.exec(line)?.[1] ?? []);
  const unnoted = workspace.storyIds.filter(id => !alone.includes(id) && !entries.includes(id));
  const repeated = [...new Set(entries.filter((id, i) => entries.indexOf(id) !== i))];
  return [
    ...(isAsExpected && file.owner === 'somebody'
      ? []
      : [`the story file is not as expected: ${JSON.stringify(file)}`]),
    ...unnoted.map(id => `the progress log has no entry of ${id}`),
    ...repeated.map(id => `the progress log has several entries of ${id}`),
  ];
}

/** Without the user's edit, the branch and the tree can follow what has landed, with the ticks that are there already. */
async function catchUpViolations(workspace: FaultWorkspace): Promise<string[]> {
  const branch = 'main';
  const ref = tipRef(workspace.folder, branch);
  const tip = (await workspace.git('for-each-ref', '--format=%(objectname)', ref)).trim();
  await workspace.git('checkout', '--quiet', '--', 'shared.txt');
  const target = await Target.open({
    ...{ root: workspace.folder, branch, tipRef: ref },
    ...{ storyFile: '.omc/prd.json', progressFile: '.omc/progress.txt' },
  });
  const result = await target.follow();
  const head = (await workspace.git('rev-parse', 'HEAD')).trim();
  const changed = (await workspace.git('status', '--porcelain', '-uno')).trim();
  return [
    ...(result.kind === 'followed'
      ? []
      : [`the branch cannot catch up: ${result.code} ${result.files}`]),
    ...(tip === '' || head === tip ? [] : [`the branch is at ${head} and not at ${tip}`]),
    ...(changed === '' ? [] : [`after catching up, there are changes: ${changed}`]),
  ];
}

/** Whether the next run can take all places: no lock of a living process, and nothing half made that stays. */
async function placeViolations(workspace: FaultWorkspace, world: LaneWorld): Promise<string[]> {
  const folder = placesFolder(
    { HOME: path.join(workspace.root, 'home') },
    process.platform,
    workspace.folder,
  );
  const places = new ClonePlaces({
    ...{ workspace: workspace.folder, root: workspace.folder, folder, runId: 'next' },
    ...{ storyFile: workspace.storyFile, env: {} },
    progressFile: path.join(workspace.folder, '.omc', 'progress.txt'),
    workRef: left => workRef(workspace.folder, left),
  });
  const commit = await tipOf(workspace, world);
  const branch = targetBranch(world);
  const violations: string[] = [];
  for (const name of ['queue', ...Array.from({ length: world.lanes }, (_, i) => `lane-${i + 1}`)]) {
    try {
      const place = await places.take(name, { commit, branch });
      const own = `${place.root}.own`;
      const halves = readdirSync(own).filter(entry => entry.endsWith('.taking'));
      violations.push(...halves.map(entry => `${name} has ${entry}`));
      await place.dispose();
    } catch (error) {
      violations.push(`the place ${name} cannot be taken: ${error}`);
    }
  }
  await places.tidied();
  return violations;
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
