import path from 'node:path';
import { type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { withoutControls } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { TARGETS, type Target } from '../orchestrator/stories/convert/conversion.ts';
import { conversionSource } from '../orchestrator/stories/convert/conversionSource.ts';
import { convertStories } from '../orchestrator/stories/convert/convertStories.ts';
import { requireFitName, usualPlace } from '../orchestrator/stories/convert/targetPlaces.ts';
import { writeConversion } from '../orchestrator/stories/convert/writeConversion.ts';
import { findStoryFile } from '../orchestrator/stories/knownSources.ts';
import { isSameFile, requireTarget } from '../orchestrator/stories/targetFile.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { lossLines } from '../presentation/conversionLosses.ts';
import { english } from '../presentation/translate.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { activeRun } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print, printAside, printJson } from './print.ts';
import { requireStoryFile } from './storyFiles.ts';

interface ConvertFlags extends Pick<Flags, 'cwd' | 'json'> {
  readonly to?: Target;
  readonly out?: string;
  readonly yes?: true;
  readonly force?: true;
}

/** `ralph-fresh convert`: the stories of a file in another format. */
export function addConvertCommand(program: Command): void {
  forPeople(program.command('convert'))
    .description('write the stories of a file in another format; the file itself stays')
    .argument('[from]', 'file with stories; default: the one that a run would find')
    .addOption(new Option('--to <format>', 'the other format').choices(TARGETS))
    .addOption(cwdOption())
    .option(
      '--out <file>',
      'the new file; default: .omc/prd.json, .claude/orchestration/<name>.yaml, IMPLEMENTATION_PLAN.md or .ralph/tasks.jsonl',
    )
    .option('--yes', 'write it although the new format cannot hold everything')
    .option('--force', 'replace a file that exists')
    .option('--json', 'as data: out, stories, losses, written')
    .action(async (from: string | undefined, flags: ConvertFlags) => {
      process.exitCode = await convert(from, flags);
    });
}

async function convert(from: string | undefined, flags: ConvertFlags): Promise<number> {
  const files = new RunFiles(flags.cwd);
  const { to } = flags;
  if (to === undefined) {
    throw new UsageError(
      say(
        'Name the format to write: ralph-fresh convert --to prd. There are also {0}.',
        TARGETS.slice(1).join(', '),
      ),
    );
  }
  const source = await requireStoryFile(files, from, {
    flag: `ralph-fresh convert FILE --to ${to}`,
    of: place => `ralph-fresh convert ${place} --to ${to}`,
  });
  const out = path.resolve(files.workspace, flags.out ?? usualPlace(to, source));
  const read = await conversionSource(source);
  await requireFree(files, source, out, flags);
  const { losses, stories, text } = convertStories(read, to, new Date());
  requireFitName(out, text, to);
  const mayWrite = losses.length === 0 || flags.yes === true;
  if (mayWrite) {
    await writeConversion(out, text, { replaces: flags.force === true });
  }
  if (flags.json) {
    printJson({ out, stories, losses, written: mayWrite });
    return mayWrite ? 0 : EXIT_FAILURE;
  }
  const name = shown(path.relative(files.workspace, out));
  if (losses.length > 0) {
    printAside(
      `${name} ${mayWrite ? 'does not have' : 'would not have'} what ${shown(path.relative(files.workspace, source))} has:\n${lossLines(
        losses,
        english,
      )
        .map(line => `  ${line}`)
        .join('\n')}`,
    );
  }
  if (!mayWrite) {
    throw new HumanError(say('Nothing was written. To write {0} without this, add --yes.', name));
  }
  const old = shown(path.relative(files.workspace, source));
  print(`Wrote ${stories === 1 ? '1 story' : `${stories} stories`} of ${old} to ${shown(out)}.`);
  print(shown(await whatIsUsed(files.workspace, source, out)));
  return 0;
}

/** A name as one line, which does nothing to a terminal. */
function shown(name: string): string {
  return withoutControls(name, ' ').replaceAll(/[\n\t]/g, ' ');
}

/** Which file later commands and runs work on: a new one can take the place of the old one. */
async function whatIsUsed(workspace: string, source: string, out: string): Promise<string> {
  const used = await findStoryFile(workspace);
  const [from, to] = [source, out].map(file => shellWord(path.relative(workspace, file)));
  if (used !== undefined && (await isSameFile(used, out))) {
    return `From now on, ${to} is used; for the old list add --file ${from}`;
  }
  return used === undefined
    ? `Use the new file with --file ${to}`
    : `${shellWord(path.relative(workspace, used))} is still used; use the new file with --file ${to}`;
}

/** @throws {HumanError} if the new file must not be written */
async function requireFree(
  files: RunFiles,
  source: string,
  out: string,
  { force }: ConvertFlags,
): Promise<void> {
  if (await isSameFile(source, out)) {
    throw new HumanError(
      say('{0} is the file that is to be converted. Name another one with --out.', out),
    );
  }
  if ((await requireTarget(out, source)) && force !== true) {
    throw new HumanError(
      say('{0} exists. Name another file with --out, or have it replaced with --force.', out),
    );
  }
  const ofRun = (await activeRun(files))?.storyFile;
  if (ofRun !== undefined && (await isSameFile(path.resolve(files.workspace, ofRun), out))) {
    throw new HumanError(
      say(
        'A run is working through {0}, so it cannot be replaced. Stop the run first (ralph-fresh stop), or name another file with --out.',
        out,
      ),
    );
  }
}
