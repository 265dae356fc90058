import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { isWithin } from '../base/isWithin.ts';
import { writePlainFile } from '../base/plainFile.ts';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import {
  type ContextChoices,
  readContextFile,
  withChoices,
} from '../orchestrator/context/contextChoices.ts';
import { INITIAL_RUN_STATE } from '../orchestrator/journal/runState.ts';
import { previewPrompt } from '../orchestrator/loop/promptPreview.ts';
import { configOf, givenSettings } from '../orchestrator/settings/settings.ts';
import { settingsForStories } from '../orchestrator/settings/sourceDefaults.ts';
import { readNewestRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { warningWords } from '../presentation/runLines.ts';
import { english } from '../presentation/translate.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { print, printJson, tell } from './print.ts';
import { fileOption, findStory } from './storyFiles.ts';

interface ContextFlags extends Flags {
  readonly pin?: readonly string[];
  readonly bar?: readonly string[];
  readonly reset?: readonly string[];
}

/** Where each section of a prompt comes from. */
const SOURCES: Readonly<Record<string, string>> = {
  heading: 'the journal of the run',
  task: 'the story file, or the task of the run',
  warnings: 'the journal of the run, git, the story file',
  failedCheck: 'the checks of the last claim',
  review: 'the reviewer of the last claim',
  conflict: 'the landing that failed',
  hints: 'what you said during the run',
  answers: 'your answers to questions',
  story: 'the story file',
  code: 'the index of the committed code, the Pin, .omc/context.json',
  state: 'the story file, git, the progress log',
  mission: 'Ralph Fresh itself, with the checks of your settings',
  rules: 'Ralph Fresh itself',
  template: '.omc/prompt.md',
};

/** `ralph-fresh context`: the whole prompt of a story before anything runs, and a person's choice of files for it. */
export function addContextCommand(program: Command): void {
  program
    .command('context')
    .description(
      'show the prompt that an agent would get for a story: sections, sources, tokens, reasons',
    )
    .argument('<story>', 'id of the story; with --pin, --bar or --reset also "*" for all stories')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option(
      '--pin <path>',
      'a file that the prompt names first; can be given several times',
      listed,
    )
    .option(
      '--bar <path>',
      'a file that the prompt must not name; can be given several times',
      listed,
    )
    .option('--reset <path>', 'a file that is neither pinned nor barred any more', listed)
    .option('--json', 'as data: storyId, iteration, tokens, sections, code (docs/json-output.md)')
    .action(context);
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function context(id: string, flags: ContextFlags): Promise<void> {
  const files = new RunFiles(flags.cwd);
  const { bar = [], pin = [], reset = [] } = flags;
  if (bar.length + pin.length + reset.length > 0) {
    const storyId = id === '*' ? id : (await findStory(files, id, flags.file)).story.id;
    await choose(files, storyId, { bar, pin, reset });
    return;
  }
  const { file, story } = await findStory(files, id, flags.file);
  const storyFile = path.resolve(files.workspace, file);
  const state = (await readNewestRun(files)) ?? INITIAL_RUN_STATE;
  const config = configOf(
    await settingsForStories(await givenSettings({ workspace: files.workspace }), storyFile),
  );
  const { code, iteration, sections, warnings } = await previewPrompt({
    files,
    config,
    story,
    state,
    storyFile,
  });
  for (const warning of warnings) {
    tell(warningWords(warning, english, 'terminal'));
  }
  const tokens = sections.reduce((sum, section) => sum + section.tokens, 0);
  const withSource = sections.map(({ name, text, tokens: own }) => ({
    ...{ name, tokens: own, source: SOURCES[name] ?? '', text },
  }));
  if (flags.json) {
    printJson({ storyId: story.id, iteration, tokens, sections: withSource, code });
    return;
  }
  print(
    `The prompt of ${story.id} as iteration ${iteration}: about ${tokens} tokens in ${sections.length} sections.`,
  );
  for (const { name, source, text, tokens: own } of withSource) {
    print(`\n── ${name}: about ${own} tokens, from ${source}\n\n${text.trim()}`);
  }
}

/** Writes a person's choice to `.omc/context.json`. */
async function choose(
  files: RunFiles,
  storyId: string,
  { bar, pin, reset }: { readonly [key in 'bar' | 'pin' | 'reset']: readonly string[] },
): Promise<void> {
  const relative = (file: string) => relativeFile(files.workspace, file);
  const pinned = pin.map(relative);
  const missing = pinned.find(file => !existsSync(path.join(files.workspace, file)));
  if (missing !== undefined) {
    throw new UsageError(say('There is no file {0}. Name an existing one with --pin.', missing));
  }
  const barred = bar.map(relative);
  const others = new Set([...pinned, ...barred, ...reset.map(relative)]);
  const without = (list: readonly string[]) => list.filter(file => !others.has(file));
  const change = (choices: ContextChoices): ContextChoices => ({
    pinned: [...without(choices.pinned), ...pinned],
    barred: [...without(choices.barred), ...barred],
  });
  const changed = withChoices(await readContextFile(files.contextFile), storyId, change);
  await writePlainFile(files.contextFile, `${JSON.stringify(changed, null, 2)}\n`);
  const about = storyId === '*' ? 'all stories' : storyId;
  for (const [words, list] of [
    ['Pinned to', pinned],
    ['Barred from', barred],
    ['Reset for', reset.map(relative)],
  ] as const) {
    for (const file of list) {
      const isThere = existsSync(path.join(files.workspace, file));
      print(`${words} ${about}: ${file}${isThere ? '' : ' (there is no such file now)'}`);
    }
  }
}

/** @throws {UsageError} for a file outside of the workspace */
function relativeFile(workspace: string, file: string): string {
  const absolute = path.resolve(workspace, file);
  if (!isWithin(workspace, absolute) || absolute === workspace) {
    throw new UsageError(say('{0} is not in {1}. Name a file of the workspace.', file, workspace));
  }
  return path.relative(workspace, absolute).split(path.sep).join('/');
}
