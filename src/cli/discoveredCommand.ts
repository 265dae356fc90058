import type { Command } from 'commander';
import { isNumberId } from '../base/numberId.ts';
import { say } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import {
  type KnownDiscovery,
  MAX_TITLE,
  waitingDiscoveries,
} from '../orchestrator/journal/discoveries.ts';
import {
  acceptFoundWork,
  dropFoundWork,
  editFoundWork,
} from '../orchestrator/loop/decideFoundWork.ts';
import { idsWithReports } from '../orchestrator/stories/reportNote.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { idMeant } from '../orchestrator/stories/storyMeant.ts';
import { readFoundWork } from '../orchestrator/workspace/foundWork.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { discoveryOrigin } from '../presentation/discoveryLines.ts';
import { english } from '../presentation/translate.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { tellIfSuspended } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print, printJson, tellWarning } from './print.ts';
import { requireRunsHere } from './runs.ts';
import { fileOption, requireStoryFile, storyFileOf } from './storyFiles.ts';

/** Maximum number of ids in a message. */
const MAX_NAMED = 8;

interface DiscoveredFlags extends Flags {
  readonly all?: true;
  readonly dropped?: true;
}

/** `ralph-fresh discovered`: work that agents found outside of their stories. */
export function addDiscoveredCommand(program: Command): void {
  const discovered = program
    .command('discovered')
    // Otherwise it would take the options of its subcommands.
    .enablePositionalOptions()
    .description('list the work that agents found outside of their stories')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--all', 'also what was accepted or dropped')
    .option('--json', 'as data: discovered, with id, title, from, state (docs/json-output.md)')
    .action(list);
  const sub = (name: string, about: string) =>
    forPeople(discovered.command(name))
      .description(about)
      .argument('<id>', 'its id; "ralph-fresh discovered" lists them')
      .addOption(cwdOption());
  sub('accept', 'add it to the story file as a story')
    .addOption(fileOption())
    .option('--dropped', 'also if it was dropped')
    .option('--json', 'as data: id, storyId, added (docs/json-output.md)')
    .action(accept);
  sub('edit', 'give it another title before it is accepted')
    .argument('<title>', 'the new title')
    .action(edit);
  sub('drop', 'remove it from the list').action(drop);
}

async function list({ all, cwd, file, json }: DiscoveredFlags): Promise<void> {
  const files = new RunFiles(cwd);
  await requireRunsHere(files);
  const everything = await readFoundWork(files);
  const found = all === true ? everything : await waiting(files, file, everything);
  if (json) {
    printJson({
      discovered: found.map(({ from, id, iteration, state, storyId, title, why }) => ({
        ...{ id, title, why: why ?? null, from: from ?? null, iteration: iteration ?? null },
        ...{ state, storyId: storyId ?? null },
      })),
    });
    return;
  }
  if (found.length === 0) {
    print(
      everything.length === 0
        ? 'No agent has reported work outside of its story.'
        : 'Nothing waits for your decision. "ralph-fresh discovered --all" shows what was decided.',
    );
    return;
  }
  for (const discovery of found) {
    print(`${discovery.id}  ${shorten(discovery.title, MAX_TITLE)}${stateText(discovery)}`);
    const origin = discoveryOrigin(discovery, english);
    if (origin !== '') {
      print(`    ${origin}`);
    }
  }
  if (all !== true) {
    print('');
    print(
      'To make one a story: ralph-fresh discovered accept ID. To remove it: ralph-fresh discovered drop ID.',
    );
  }
}

function stateText({ state, storyId }: KnownDiscovery): string {
  const texts: Readonly<Record<KnownDiscovery['state'], string>> = {
    accepted: '  (accepted; not in the story file yet)',
    // Its number may be that of another story by now.
    added: isNumberId(storyId ?? '') ? '  (a story)' : `  (story ${shorten(storyId ?? '', 80)})`,
    dropped: '  (dropped)',
    open: '',
  };
  return texts[state];
}

async function waiting(
  files: RunFiles,
  named: string | undefined,
  discoveries: readonly KnownDiscovery[],
): Promise<readonly KnownDiscovery[]> {
  const storyFile = await storyFileOf(files, named);
  const stories = storyFile === undefined ? undefined : (await readStoryList(storyFile))?.stories;
  return waitingDiscoveries(discoveries, idsWithReports(stories ?? []));
}

async function accept(
  typed: string,
  { cwd, dropped, file: named, json }: DiscoveredFlags,
): Promise<void> {
  const files = new RunFiles(cwd);
  const discovery = await requireDiscovery(files, typed);
  const { id } = discovery;
  const storyFile = await requireStoryFile(files, named);
  await tellIfSuspended(files);
  const accepted = await acceptFoundWork(files, storyFile, discovery, {
    mayRun: true,
    env: process.env,
    onWarning: tellWarning,
    evenDropped: dropped === true,
  });
  const storyId = accepted.kind === 'added' ? accepted.storyId : null;
  if (json) {
    printJson({ id, storyId, added: storyId !== null });
  } else {
    print(
      storyId === null
        ? `Accepted: ${shorten(discovery.title, MAX_TITLE)}. The active run adds it to ${storyFile} when no agent works on that file.`
        : `Added to ${storyFile}: ${shorten(storyId, 80)} ${shorten(discovery.title, MAX_TITLE)}`,
    );
  }
}

async function edit(typed: string, title: string, { cwd }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const { id } = await requireDiscovery(files, typed);
  const line = shorten(title, MAX_TITLE);
  if (line === '') {
    throw new UsageError(say('The title is empty: give it one, in quotation marks.'));
  }
  await tellIfSuspended(files);
  await editFoundWork(files, id, line);
  print(`${id}  ${line}`);
}

async function drop(typed: string, { cwd }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const { id, title } = await requireDiscovery(files, typed);
  await tellIfSuspended(files);
  await dropFoundWork(files, id);
  print(`Dropped: ${shorten(title, MAX_TITLE)}`);
}

/** @throws {UsageError} naming the existing ids */
async function requireDiscovery(files: RunFiles, typed: string): Promise<KnownDiscovery> {
  const all = await readFoundWork(files);
  const id =
    idMeant(
      undefined,
      all.map(discovery => discovery.id),
      typed,
    ) ?? typed;
  const found = all.find(discovery => discovery.id === id);
  if (found === undefined) {
    const named = all
      .filter(({ state }) => state === 'open' || state === 'accepted')
      .slice(-MAX_NAMED)
      .map(discovery => discovery.id)
      .join(', ');
    throw new UsageError(
      named === ''
        ? say(
            'There is no discovered work "{0}", and none that waits. "ralph-fresh discovered --all" shows what was decided.',
            shorten(id, 80),
          )
        : say('There is no discovered work "{0}". There is {1}.', shorten(id, 80), named),
    );
  }
  return found;
}
