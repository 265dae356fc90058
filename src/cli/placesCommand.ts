import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { englishOf } from '../base/say.ts';
import { shorten, withoutControls } from '../base/text.ts';
import { GitRepository } from '../orchestrator/git/git.ts';
import { runningIn, storyRecord } from '../orchestrator/journal/runState.ts';
import { alone } from '../orchestrator/loop/exclusiveWork.ts';
import { cleanPlaces, listPlaces, type PlaceEntry } from '../orchestrator/places/placeList.ts';
import { placesFolder } from '../orchestrator/places/placesFolder.ts';
import {
  DISCARDED_DAYS,
  type DiscardedRef,
  discardedRefs,
  discardWork,
  restoreWork,
} from '../orchestrator/workspace/discardedWork.ts';
import {
  type KeptStoryWork,
  keptStoryWork,
  MAX_COMMITS as MAX_LISTED,
  type WorkRef,
} from '../orchestrator/workspace/keptStoryWork.ts';
import type { Ref } from '../orchestrator/workspace/refs.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { table } from '../presentation/table.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { askYes, canAsk } from './canAsk.ts';
import { livingLoop, readRun } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { addSettleCommand } from './settleCommand.ts';

/** In UTF-16 units. */
const MAX_ID = 40;
const MAX_SUBJECT = 100;
/** Maximum number of commits that are named. */
const MAX_COMMITS = 20;
const SHORT_HASH = 7;

/** A place with its size in bytes. */
type SizedPlace = PlaceEntry & { readonly bytes: number };

/** `ralph-fresh places`: where agents with places of their own work, and what is kept of their work. */
export function addPlacesCommand(program: Command): void {
  const places = program
    .command('places')
    // Otherwise it would take the options of its subcommands.
    .enablePositionalOptions()
    .description('list the places of the lanes, and work of agents that has not landed')
    .addOption(cwdOption())
    .option('--json', 'as data: folder, places, kept, discarded (docs/json-output.md)')
    .action(list);
  forPeople(places.command('clean'))
    .description('remove the places in which nothing can be lost, and say why the others stay')
    .addOption(cwdOption())
    .action(clean);
  forPeople(places.command('discard'))
    .description('throw away the work on a story that has not landed')
    .argument('<story>', 'id of the story')
    .addOption(cwdOption())
    .option('--yes', 'do not ask')
    .action(discard);
  addSettleCommand(places);
}

async function list({ cwd, json }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const folder = folderOf(files);
  const hasGit = (await new GitRepository(cwd).root()) !== undefined;
  const [entries, kept, discarded] = await Promise.all([
    listPlaces(folder),
    hasGit ? keptStoryWork(files) : [],
    hasGit ? discardedRefs(files) : [],
  ]);
  const places: SizedPlace[] = [];
  for (const entry of entries) {
    places.push({ ...entry, bytes: await entry.size() });
  }
  if (json) {
    printJson({
      folder,
      places: places.map(placeData),
      kept: kept.map(keptData),
      discarded: discarded.map(({ commit, name, until }) => ({ ref: name, commit, until })),
    });
    return;
  }
  const open = kept.filter(({ isLanded }) => !isLanded);
  print(
    withoutControls(
      [
        ...placeLines(folder, places),
        '',
        ...(open.length === 0 ? ['All work of agents has landed.'] : ['Work that has not landed:']),
        ...open.flatMap(keptLines),
        ...discardedLines(discarded),
      ].join('\n'),
    ),
  );
}

function placeData({ bytes, head, isSetAside, iteration, name, ...entry }: SizedPlace): object {
  return {
    name,
    path: entry.path,
    setAside: isSetAside,
    bytes,
    run: entry.runId ?? null,
    story: entry.story ?? null,
    iteration: iteration ?? null,
    head: head ?? null,
    usedBy: entry.usedBy ?? null,
    unsafe: entry.unsafe === undefined ? null : englishOf(entry.unsafe),
  };
}

function keptData({ commits, isLanded, refs, storyId }: KeptStoryWork): object {
  return {
    story: storyId,
    landed: isLanded,
    refs: refs.map(({ commit, isLanded: landed, iteration, name, runId }) => ({
      ...{ ref: name, commit, run: runId, iteration, landed },
    })),
    commits: commits.map(({ hash, subject }) => ({ hash, subject })),
  };
}

function placeLines(folder: string, places: readonly SizedPlace[]): string[] {
  if (places.length === 0) {
    return ['There are no places here. A run with --lanes 2 or --isolate makes them.'];
  }
  const all = places.reduce((sum, { bytes }) => sum + bytes, 0);
  const rows = places.map(({ bytes, isSetAside, iteration, name, story, unsafe, usedBy }) => [
    isSetAside ? `${name} (set aside)` : name,
    sizeWords(bytes),
    story === undefined ? '' : shorten(story, MAX_ID),
    iteration === undefined ? '' : String(iteration),
    usedBy !== undefined
      ? `in use by process ${usedBy}`
      : unsafe === undefined
        ? 'nothing can be lost'
        : englishOf(unsafe),
  ]);
  const headings = ['place', 'size', 'story', 'iteration', 'state'];
  return [`${sizeWords(all)} in ${folder}:`, ...table(headings, rows, new Set([0, 2, 4]))];
}

function keptLines({ commits, refs, storyId }: KeptStoryWork): string[] {
  const open = refs.filter(({ isLanded }) => !isLanded);
  const attempts = new Set(open.map(({ iteration, runId }) => `${runId}/${iteration}`)).size;
  const facts = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, ${commitCount(commits.length)}`;
  return [
    `  ${shorten(storyId, MAX_ID)}: ${facts}`,
    ...open.map(({ commit, name }) => `    ${commit.slice(0, SHORT_HASH)} ${name}`),
  ];
}

function discardedLines(discarded: readonly DiscardedRef[]): string[] {
  return discarded.length === 0
    ? []
    : [
        '',
        'Discarded, but held for a while:',
        ...discarded.map(({ name, until }) => `  until ${until.slice(0, 10)}: ${name}`),
      ];
}

async function clean({ cwd }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const root = await new GitRepository(cwd).root();
  if (root === undefined) {
    throw new HumanError(
      `${cwd} is not in a git repository, so it cannot be proved that nothing in the places is lost.`,
    );
  }
  const cleaned = await cleanPlaces(folderOf(files), root);
  if (cleaned.length === 0) {
    print('There are no places here.');
  }
  for (const { kept, name, path } of cleaned) {
    print(
      withoutControls(
        kept === undefined
          ? `${name} is removed.`
          : `${name} stays. ${englishOf(kept)} It is in ${path}`,
      ),
    );
  }
}

async function discard(
  storyId: string,
  { cwd, yes }: Flags & { readonly yes?: true },
): Promise<void> {
  const files = new RunFiles(cwd);
  const shown = await requireIdleWork(files, storyId);
  print(lossText(shown));
  if (yes !== true) {
    if (!canAsk()) {
      throw new HumanError(
        `Nothing was discarded, because nobody can be asked here. Add --yes: ralph-fresh places discard ${named(storyId)} --yes`,
      );
    }
    if (!(await askYes('Discard it?'))) {
      print('Nothing was discarded.');
      return;
    }
  }
  const refs =
    (await livingLoop(files)) === undefined
      ? await alone(files, async () => discardWork(files, await sameWork(files, shown)))
      : await discardBesideRun(files, shown);
  print(discardedText(storyId, refs));
}

/**
 * An active run may go on with its other stories. Its loop notes that the story may be worked on before it looks for
 * earlier work; so if the story is still held back after the work has been moved, no agent has got it.
 */
async function discardBesideRun(files: RunFiles, shown: KeptStoryWork): Promise<readonly Ref[]> {
  const moved = await discardWork(files, await sameWork(files, shown));
  try {
    await requireIdle(files, shown);
  } catch (error) {
    await restoreWork(files, moved);
    throw error;
  }
  return moved;
}

/** @throws {HumanError} if it is not what the person was shown any more, or somebody works on it */
async function sameWork(files: RunFiles, shown: KeptStoryWork): Promise<readonly WorkRef[]> {
  const now = openRefs(await requireIdleWork(files, shown.storyId));
  const namesOf = (refs: readonly WorkRef[]) =>
    refs.map(({ commit, name }) => `${name} ${commit}`).join();
  if (namesOf(now) !== namesOf(openRefs(shown))) {
    throw new HumanError(
      `Nothing was discarded, because the work on ${named(shown.storyId)} has changed meanwhile. Look at it with "ralph-fresh places", then try again.`,
    );
  }
  return now;
}

/** @throws {HumanError} if nothing is kept of it that has not landed, or somebody works on it */
async function requireIdleWork(files: RunFiles, storyId: string): Promise<KeptStoryWork> {
  const work = await requireOpenWork(files, storyId);
  await requireIdle(files, work);
  return work;
}

function openRefs({ refs }: KeptStoryWork): readonly WorkRef[] {
  return refs.filter(({ isLanded }) => !isLanded);
}

/** @throws {HumanError} if nothing of the story is kept that has not landed */
async function requireOpenWork(files: RunFiles, storyId: string): Promise<KeptStoryWork> {
  if ((await new GitRepository(files.workspace).root()) === undefined) {
    throw new HumanError(`${files.workspace} is not in a git repository.`);
  }
  const all = await keptStoryWork(files);
  const work = all.find(kept => kept.storyId === storyId);
  if (work === undefined || work.isLanded) {
    const open = all.flatMap(kept => (kept.isLanded ? [] : [named(kept.storyId)])).slice(0, 8);
    const others =
      open.length === 0 ? 'All work of agents has landed.' : `There is some of ${open.join(', ')}.`;
    throw new HumanError(
      work === undefined
        ? `No work on ${named(storyId)} is kept. ${others}`
        : `All work on ${named(storyId)} has landed. To take it back: ralph-fresh revert ${named(storyId)}`,
    );
  }
  return work;
}

/** @throws {HumanError} while an agent works on the story, or may begin with the work, or it waits to land */
async function requireIdle(files: RunFiles, work: KeptStoryWork): Promise<void> {
  const loop = await livingLoop(files);
  const state = loop && (await readRun(files, loop.runId));
  if (loop === undefined || state === undefined) {
    return;
  }
  const { storyId } = work;
  const id = named(storyId);
  const current = runningIn(state, storyId);
  if (current !== undefined) {
    throw new HumanError(
      current.queued
        ? `${id} is landing now. Take it back first, with "ralph-fresh skip ${id}", then try again.`
        : `An agent works on ${id} now. End it first, with "ralph-fresh stop ${id}", then try again.`,
    );
  }
  const { landed, paused, skipped } = storyRecord(state, storyId);
  const isContinued = openRefs(work).some(({ runId }) => runId === loop.runId);
  if (isContinued && !landed && !paused && skipped !== 'person') {
    throw new HumanError(
      `A run is active, and its next agent for ${id} would continue this work. Hold the story back first, with "ralph-fresh pause ${id}", then try again.`,
    );
  }
}

function lossText({ commits, refs, storyId }: KeptStoryWork): string {
  const uncommitted = refs.filter(
    ({ isLanded, name }) => !isLanded && name.endsWith('-uncommitted'),
  ).length;
  const more = commits.length - MAX_COMMITS;
  return withoutControls(
    [
      `This work on ${named(storyId)} has not landed${
        uncommitted === 0 ? '' : ' (uncommitted changes are kept as commits of their own)'
      }:`,
      ...commits
        .slice(0, MAX_COMMITS)
        .map(
          ({ hash, subject }) => `  ${hash.slice(0, SHORT_HASH)} ${shorten(subject, MAX_SUBJECT)}`,
        ),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join('\n'),
  );
}

function discardedText(storyId: string, refs: readonly Ref[]): string {
  return [
    `The work on ${named(storyId)} is discarded, and its next agent starts without it. For ${DISCARDED_DAYS} days, it is still here:`,
    ...refs.map(({ name }) => `  ${name}`),
    `To get it back: git branch rescued ${refs.at(-1)?.name ?? ''}`,
  ].join('\n');
}

function folderOf({ workspace }: RunFiles): string {
  return placesFolder(process.env, process.platform, workspace);
}

function commitCount(count: number): string {
  return count === 1 ? '1 commit' : `${count < MAX_LISTED ? '' : 'at least '}${count} commits`;
}

function sizeWords(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'] as const;
  let unit = 0;
  let size = bytes;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

function named(storyId: string): string {
  return shorten(withoutControls(storyId), MAX_ID);
}
