import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { shorten } from '../base/text.ts';
import {
  beginSettlement,
  cancelSettlement,
  holderOf,
  landSettlement,
  requireConflict,
} from '../orchestrator/loop/settlement.ts';
import type { ConflictedFile } from '../orchestrator/places/conflictedPlace.ts';
import { RunHistory } from '../orchestrator/workspace/history.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { tellIfSuspended } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { findStory, storyFileOf } from './storyFiles.ts';
import { named, typedId } from './typedIds.ts';

const MAX_PATH = 300;

interface SettleFlags extends Flags {
  readonly stop?: true;
  readonly cancel?: true;
}

/** `ralph-fresh places settle`: a person settles a conflict by hand. */
export function addSettleCommand(places: Command): void {
  forPeople(places.command('settle'))
    .description('prepare a place in which you settle the conflict of a story by hand')
    .argument('<story>', 'id of the story')
    .addOption(cwdOption())
    .option('--stop', 'end the agent that works on the story now; what it has done is kept')
    .option('--cancel', 'give the story back to the agents')
    .option('--json', 'as data: story, place, branch, files (docs/json-output.md)')
    .action(settle);
}

/** `ralph-fresh land`: what a person has settled lands. */
export function addLandCommand(program: Command): void {
  forPeople(program.command('land'))
    .description('land a story whose conflict you have settled (places settle)')
    .argument('<story>', 'id of the story')
    .addOption(cwdOption())
    .action(land);
}

/**
 * As people type it, among the stories of the runs.
 * @throws {UsageError} if neither a run nor the story file knows it
 */
async function meantIn(files: RunFiles, typed: string): Promise<string> {
  const states = await new RunHistory(files).read();
  const known = states.flatMap(({ storyRecords }) => [...storyRecords.keys()]);
  const storyId = await typedId(files, typed, known);
  if (!known.includes(storyId) && (await storyFileOf(files, undefined)) !== undefined) {
    await findStory(files, storyId, undefined);
  }
  return storyId;
}

async function settle(typed: string, { cancel, cwd, json, stop }: SettleFlags): Promise<void> {
  const files = new RunFiles(cwd);
  const storyId = await meantIn(files, typed);
  const id = named(storyId);
  await tellIfSuspended(files);
  if (cancel) {
    const kept = await cancelSettlement(files, storyId);
    print(`${id} is given back to the agents.`);
    if (kept !== undefined) {
      print(`What you had done is kept: git show ${kept}`);
    }
    return;
  }
  const holder = await holderOf(files, storyId);
  if (holder === 'queue') {
    throw new HumanError(`${id} is landing now, so there is nothing to settle.`);
  }
  await requireConflict(files, storyId);
  if (holder === 'agent' && !stop) {
    throw new HumanError(
      `An agent works on ${id} now. To end it and settle the conflict yourself: ralph-fresh places settle ${id} --stop`,
    );
  }
  const { branch, files: conflicted, root } = await beginSettlement(files, storyId);
  if (json) {
    const data = conflicted.map(({ isOpen, kind, path }) => ({ path, kind, settled: !isOpen }));
    printJson({ story: storyId, place: root, branch, files: data });
    return;
  }
  print(
    [
      `No agent works on ${id} until you have settled it. Your place:`,
      `  ${root}`,
      ...(conflicted.length === 0
        ? [`The work fits on ${branch} now.`]
        : ['Files in conflict:', ...conflicted.map(fileLine)]),
      `When all is settled: ralph-fresh land ${id}`,
      `To give it back: ralph-fresh places settle ${id} --cancel`,
    ].join('\n'),
  );
}

function fileLine({ isOpen, path, ...file }: ConflictedFile): string {
  return `  ${shorten(path, MAX_PATH)}${isOpen ? whatToDo(file) : ': settled'}`;
}

function whatToDo({ kind, marks }: Pick<ConflictedFile, 'kind' | 'marks'>): string {
  const steps: Readonly<Record<typeof kind, string>> = {
    text:
      marks === undefined
        ? ': no conflict markers are left. If it is as you want it, "git add" says so'
        : ': edit it, then "git add"',
    binary:
      ': binary. Keep one version with "git checkout --ours" (the branch) or "--theirs" (the agent), then "git add"',
    deletedHere:
      ': deleted on the branch, changed by the agent. "git add" keeps it, "git rm" deletes it',
    deletedThere:
      ': changed on the branch, deleted by the agent. "git add" keeps it, "git rm" deletes it',
    other:
      ': two different things have this name. "git add" keeps what is there, "git rm" deletes it',
  };
  return steps[kind];
}

async function land(typed: string, { cwd }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const storyId = await meantIn(files, typed);
  await tellIfSuspended(files);
  const { isActive } = await landSettlement(files, storyId);
  print(
    isActive
      ? `${named(storyId)} waits to land, like the work of an agent. "ralph-fresh status" shows it.`
      : `${named(storyId)} lands first when the run continues: ralph-fresh run --resume`,
  );
}
