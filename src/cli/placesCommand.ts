import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { englishOf } from '../base/say.ts';
import { shorten, withoutControls } from '../base/text.ts';
import { GitRepository } from '../orchestrator/git/git.ts';
import { discardStory, openRefs, requireIdle } from '../orchestrator/loop/discardStory.ts';
import { cleanPlaces, listPlaces, type PlaceEntry } from '../orchestrator/places/placeList.ts';
import { placesFolder } from '../orchestrator/places/placesFolder.ts';
import {
  DISCARDED_DAYS,
  type DiscardedRef,
  discardedRefs,
} from '../orchestrator/workspace/discardedWork.ts';
import {
  type KeptStoryWork,
  keptStoryWork,
  MAX_COMMITS as MAX_LISTED,
} from '../orchestrator/workspace/keptStoryWork.ts';
import type { Ref } from '../orchestrator/workspace/refs.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { table } from '../presentation/table.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { askYes, canAsk } from './canAsk.ts';
import { livingLoop } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { requireRunsHere } from './runs.ts';
import { addSettleCommand } from './settleCommand.ts';
import { findStory, storyFileOf } from './storyFiles.ts';
import { named, typedId } from './typedIds.ts';

const MAX_SUBJECT = 100;
/** Maximum number of commits that are named. */
const MAX_COMMITS = 20;
const SHORT_HASH = 7;
const NEXT_STEPS =
  '  Look at it with "git log <ref>". "ralph-fresh places discard ID" throws it away.';

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
    .argument('<story>', 'id of the story; "ralph-fresh places" lists them')
    .addOption(cwdOption())
    .option('--yes', 'do not ask')
    .action(discard);
  addSettleCommand(places);
}

async function list({ cwd, json }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  await requireRunsHere(files);
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
        ...(open.length === 0
          ? ['Nothing is kept that has not landed.']
          : ['Work that has not landed:']),
        ...open.flatMap(keptLines),
        ...(open.length === 0 ? [] : [NEXT_STEPS]),
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
    story === undefined ? '' : named(story),
    iteration === undefined ? '' : String(iteration),
    usedBy !== undefined
      ? `in use by process ${usedBy}`
      : unsafe === undefined
        ? 'nothing can be lost'
        : englishOf(unsafe),
  ]);
  const headings = ['place', 'size', 'story', 'iteration', 'state'];
  const aside = places.filter(({ isSetAside }) => isSetAside);
  return [
    `${sizeWords(all)} in ${folder}:`,
    ...table(headings, rows, new Set([0, 2, 4])),
    ...(aside.length === 0
      ? []
      : ['What is set aside could not be read. Copy what you need of it, then delete its folder:']),
    ...aside.map(place => `  ${place.path}`),
  ];
}

function keptLines(work: KeptStoryWork): string[] {
  const { commits, storyId } = work;
  const open = openRefs(work);
  const attempts = new Set(open.map(({ iteration, runId }) => `${runId}/${iteration}`)).size;
  // What an agent had not committed is a commit of ours.
  const uncommitted = open.filter(({ name }) => name.endsWith('-uncommitted')).length;
  const facts = [
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    commitCount(Math.max(0, commits.length - uncommitted)),
    ...(uncommitted === 0 ? [] : ['uncommitted changes']),
  ].join(', ');
  return [
    `  ${named(storyId)}: ${facts}`,
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
  const loop = await livingLoop(files);
  const cleaned = await cleanPlaces(folderOf(files), root);
  if (cleaned.length === 0) {
    print('There are no places here.');
  }
  for (const { isUsed, kept, name, path } of cleaned) {
    print(
      withoutControls(
        kept === undefined
          ? `${name} is removed.`
          : isUsed && loop !== undefined
            ? `${name} stays: the active run uses it. End the run first: ralph-fresh stop`
            : `${name} stays, in ${path}. ${englishOf(kept)}`,
      ),
    );
  }
}

async function discard(
  typed: string,
  { cwd, yes }: Flags & { readonly yes?: true },
): Promise<void> {
  const files = new RunFiles(cwd);
  const shown = await requireIdleWork(files, typed);
  const { storyId } = shown;
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
  const refs = await discardStory(files, shown);
  print(discardedText(storyId, refs));
}

/** @throws {HumanError} if nothing is kept of it that has not landed, or somebody works on it */
async function requireIdleWork(files: RunFiles, typed: string): Promise<KeptStoryWork> {
  const work = await requireOpenWork(files, typed);
  await requireIdle(files, work);
  return work;
}

/** @throws {HumanError} if nothing of the story is kept that has not landed */
async function requireOpenWork(files: RunFiles, typed: string): Promise<KeptStoryWork> {
  if ((await new GitRepository(files.workspace).root()) === undefined) {
    throw new HumanError(`${files.workspace} is not in a git repository.`);
  }
  const all = await keptStoryWork(files);
  const storyId = await typedId(
    files,
    typed,
    all.map(kept => kept.storyId),
  );
  const work = all.find(kept => kept.storyId === storyId);
  if (work === undefined || work.isLanded) {
    const open = all.flatMap(kept => (kept.isLanded ? [] : [named(kept.storyId)])).slice(0, 8);
    const others =
      open.length === 0
        ? 'Nothing is kept that has not landed.'
        : `Work on these stories is kept: ${open.join(', ')}.`;
    if (work === undefined && (await storyFileOf(files, undefined)) !== undefined) {
      // A mistyped id is a mistake in the command.
      await findStory(files, storyId, undefined);
    }
    throw new HumanError(
      work === undefined
        ? `No work on ${named(storyId)} is kept. ${others}`
        : `All work on ${named(storyId)} has landed. To take it back: ralph-fresh revert ${named(storyId)}`,
    );
  }
  return work;
}

function lossText(work: KeptStoryWork): string {
  const { commits, storyId } = work;
  const uncommitted = openRefs(work).filter(({ name }) => name.endsWith('-uncommitted')).length;
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
