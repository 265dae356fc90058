import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { HANDOFF_MAX_BYTES } from '../../src/orchestrator/iteration/handoff.ts';
import type { RunOutcome } from '../../src/orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import type { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import type { FaultWorkspace, Manner } from './faultWorkspace.ts';
import { runIdsNow, wholeJournal } from './journalTail.ts';

/** Longer than anything takes to end by itself. */
const ENDING_MS = 30_000;
const LOOK_MS = 20;

/** What is wrong with a workspace after a run that was killed repeatedly and is now complete. */
export async function endViolations(
  workspace: FaultWorkspace,
  order: Manner['order'],
): Promise<string[]> {
  const journals = runIdsNow(workspace.files).map(runId => wholeJournal(workspace.files, runId));
  const events = journals.flat();
  return [
    ...journals.flatMap(list => journalViolations(list)),
    ...storyViolations(workspace, events),
    ...(await commitViolations(workspace, events, order)),
    ...handoffViolations(workspace.files),
    ...stateViolations(workspace.files),
    ...(await processViolations(workspace)),
  ];
}

export function handoffViolations({ handoffFile }: RunFiles): string[] {
  const size = statSync(handoffFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > HANDOFF_MAX_BYTES) {
    return [`the handoff has ${size} bytes`];
  }
  try {
    if (size > 0) {
      JSON.parse(readFileSync(handoffFile, 'utf8'));
    }
    return [];
  } catch (error) {
    return [`the handoff cannot be read: ${error}`];
  }
}

/** @param outcomes with which its run may end */
export function journalViolations(
  events: readonly RunEvent[],
  outcomes: readonly RunOutcome[] = ['completed'],
): string[] {
  const runId = events[0]?.type === 'run.started' ? events[0].runId : '?';
  const gap = events.findIndex(({ seq }, i) => seq !== i + 1);
  const { phase } = foldRun(events);
  const last = events.at(-1);
  return [
    ...(gap === -1
      ? []
      : [`the journal of ${runId} has seq ${events[gap]?.seq} at line ${gap + 1}`]),
    // A loop that was killed before its first event leaves an empty journal.
    ...(phase === 'ended' || phase === 'idle' ? [] : [`run ${runId} is ${phase}`]),
    ...(last === undefined || (last.type === 'run.ended' && outcomes.includes(last.outcome))
      ? []
      : [`run ${runId} ends with ${JSON.stringify(last)}`]),
  ];
}

function storyViolations(workspace: FaultWorkspace, events: readonly RunEvent[]): string[] {
  const done = events.flatMap(event =>
    event.type === 'iteration.ended' && event.outcome === 'storyDone' ? [event.storyId ?? '?'] : [],
  );
  const file = JSON.parse(readFileSync(workspace.storyFile, 'utf8'));
  const expected = workspace.storyIds.map((id, i) => ({
    ...{ id, title: `Story ${id}`, acceptanceCriteria: ['It has three parts'] },
    ...{ priority: i + 1, passes: true, estimate: { points: i } },
  }));
  const isAsExpected = JSON.stringify(file.userStories) === JSON.stringify(expected);
  return [
    ...timesOtherThanOnce(workspace.storyIds, done).map(text => `in the journal ${text} done`),
    ...(isAsExpected && file.owner === 'somebody'
      ? []
      : [`the story file is not as expected: ${JSON.stringify(file)}`]),
  ];
}

async function commitViolations(
  workspace: FaultWorkspace,
  events: readonly RunEvent[],
  order: Manner['order'],
): Promise<string[]> {
  const log = (await workspace.git('log', '--reverse', '--format=%H %s'))
    .trim()
    .split('\n')
    .slice(1);
  const hashes = log.map(line => line.slice(0, line.indexOf(' ')));
  const subjects = log.map(line => line.slice(line.indexOf(' ') + 1));
  const changed = (await workspace.git('status', '--porcelain', '-uall', '-z')).split('\0');
  // If an agent ticked the last story and was killed before its commit, no other agent follows.
  const last = workspace.storyIds.at(-1) ?? '';
  const isLeftAtEnd =
    order === 'tickFirst' && changed.some(entry => entry.endsWith(`work/${last}.txt`));
  const ids = isLeftAtEnd ? workspace.storyIds.slice(0, -1) : workspace.storyIds;
  const recorded = events.flatMap(event => (event.type === 'commit.recorded' ? [event.hash] : []));
  const made = workspace.notes().flatMap(({ commit }) => commit ?? []);
  const files = (await workspace.git('ls-files', '-z')).split('\0');
  const others = [...files, ...changed.map(entry => entry.slice(3))].filter(
    name => name !== '' && !/^(\.omc\/(prd\.json|progress\.txt)|work\/US-\d+\.txt)$/.test(name),
  );
  const torn = await tornFiles(workspace);
  return [
    ...timesOtherThanOnce(
      ids.map(id => `feat: ${id}`),
      subjects,
    ).map(text => `in git log ${text}`),
    ...timesOtherThanOnce(hashes, recorded).map(text => `in the journal commit ${text}`),
    ...made.filter(hash => !hashes.includes(hash)).map(hash => `commit ${hash} is lost`),
    ...others.map(name => `the loop left ${name} in the work tree`),
    ...torn.map(name => `${name} lost work`),
  ];
}

/** Work files whose text differs from what an agent writes. */
async function tornFiles(workspace: FaultWorkspace): Promise<string[]> {
  return workspace.storyIds.flatMap(id => {
    const expected = ['one', 'two', 'three'].map(part => `${id}: part ${part}\n`).join('');
    const file = `${workspace.folder}/work/${id}.txt`;
    return existsSync(file) && readFileSync(file, 'utf8') === expected ? [] : [`work/${id}.txt`];
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // Not available on this system, or it has just ended.
    return 'unknown';
  }
}

export function stateViolations(files: RunFiles): string[] {
  const state = JSON.parse(readFileSync(files.stateFile, 'utf8'));
  return [
    ...(state.active === false ? [] : ['the state file is still active']),
    ...(existsSync(files.lockFile) ? ['the lock file is still there'] : []),
  ];
}

export async function processViolations(workspace: FaultWorkspace): Promise<string[]> {
  // A process that is ending is not left behind; on a busy machine, even a shell without input takes a while to end.
  const end = performance.now() + ENDING_MS;
  while (workspace.processes().length > 0 && performance.now() < end) {
    await delay(LOOK_MS);
  }
  return [
    ...workspace.processes().map(pid => `process ${pid} still runs: ${commandOf(pid)}`),
    ...workspace.notes().flatMap(({ wrong }) => wrong ?? []),
  ];
}

/** @returns a text for every item that does not occur exactly once */
export function timesOtherThanOnce(
  expected: readonly string[],
  found: readonly string[],
): string[] {
  return [...new Set([...expected, ...found])].flatMap(name => {
    const wanted = expected.includes(name) ? 1 : 0;
    const times = found.filter(other => other === name).length;
    return times === wanted ? [] : [`${name} is ${times} times and not ${wanted} times`];
  });
}
