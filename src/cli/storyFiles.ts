import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { type Message, say, sentences } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import {
  findStoryFile,
  knownSources,
  sourcesAndSlips,
} from '../orchestrator/stories/knownSources.ts';
import type { Story, StoryFile, StoryList } from '../orchestrator/stories/story.ts';
import {
  problemOfFile,
  problemWords,
  readStoryFileOrThrow,
  readStoryList,
} from '../orchestrator/stories/storyFile.ts';
import { FILE_FLAG, type Naming, namedSource } from '../orchestrator/stories/storyFolder.ts';
import { storyMeant } from '../orchestrator/stories/storyMeant.ts';
import { readNewestRun } from '../orchestrator/workspace/runCheckpoint.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { activeRun } from './loopEnd.ts';
import { whyNoStoryFile } from './whyNoStoryFile.ts';

/** Where stories created for a run are written, unless a file is named. */
export const OWN_STORY_FILE = path.join('.omc', 'prd.json');
/** Maximum number of ids in a message. */
const MAX_NAMED = 8;

/** There are several lists, and nothing is left to do in any of them: for some commands no error. */
export class AllListsDone extends HumanError {
  /** Their absolute paths. */
  readonly files: readonly string[];

  constructor(said: Message, files: readonly string[]) {
    super(said);
    this.files = files;
  }
}

/** `--file <path>` of the commands that work on stories. */
export function fileOption(): Option {
  return new Option(
    '--file <path>',
    'story file; default: the one of the active run, the one that a run would find, or that of the last run',
  );
}

/**
 * The story file of a command: the named one, the living run's, the one that a run would find, or among several that of
 * the last run.
 */
export async function storyFileOf(
  files: RunFiles,
  named: string | undefined,
  naming: Naming = FILE_FLAG,
): Promise<string | undefined> {
  return (await startingFile(files, named, naming)) ?? lastRunsFile(files);
}

/** The named story file, the living run's, or the one that a run would find. */
export async function startingFile(
  files: RunFiles,
  named: string | undefined,
  naming: Naming = FILE_FLAG,
): Promise<string | undefined> {
  if (named !== undefined) {
    return namedSource(files.workspace, named, naming);
  }
  const ofRun = (await activeRun(files))?.storyFile;
  return ofRun === undefined
    ? findStoryFile(files.workspace)
    : path.resolve(files.workspace, ofRun);
}

/** The story file of the last run, if there are several lists and nothing is left to do in any of them. */
export async function finishedFile(files: RunFiles): Promise<string | undefined> {
  const sources = await knownSources(files.workspace);
  return sources.some(({ isOpen }) => isOpen) ? undefined : lastRunsFile(files);
}

/** The story file of the last run, unless another one has open stories and it has none. */
async function lastRunsFile(files: RunFiles): Promise<string | undefined> {
  const file = (await readNewestRun(files))?.storyFile;
  const sources = file === undefined ? [] : await knownSources(files.workspace);
  const open = sources.filter(({ isOpen }) => isOpen);
  const candidates = open.length === 0 ? sources : open;
  const absolute = path.resolve(files.workspace, file ?? '');
  return candidates.find(candidate => candidate.path === absolute)?.path;
}

/**
 * @param naming how the command can be told which one is meant
 * @throws {HumanError} if there is no story file
 */
export async function requireStoryFile(
  files: RunFiles,
  named: string | undefined,
  naming: Naming = FILE_FLAG,
): Promise<string> {
  const file = await storyFileOf(files, named, naming);
  if (file === undefined) {
    const { choice, finished, found } = await whyNoStoryFile(files, naming);
    if (choice === undefined) {
      throw new HumanError(
        say(
          '{0} Write .omc/prd.json (docs/story-files.md describes it), or name yours with {1}.',
          found,
          naming.flag,
        ),
      );
    }
    const said = sentences([found, choice]);
    throw finished === undefined ? new HumanError(said) : new AllListsDone(said, finished);
  }
  return file;
}

/** What a person who has not chosen a list should know of the others. */
export interface OtherLists {
  /** Which have open stories; absent if there are none. */
  readonly open?: Message;
  /** Which would come before the one that is used if they were written as they should be. */
  readonly slips: readonly Message[];
}

/** @param used the list that is used */
export async function alsoFound({ workspace }: RunFiles, used: string): Promise<OtherLists> {
  const found = await sourcesAndSlips(workspace);
  // One file can have two names, through a link or because upper and lower case are the same there.
  const byFile = new Map<string, string>();
  const slipOf = new Map<string, Message>();
  const nameOf = (file: string) => shorten(path.relative(workspace, file), 100);
  // Which of several files at one place is used does not depend on their order.
  const place = found.find(one => one.path === used)?.place;
  const last = found.findLastIndex(one => one.place === place);
  for (const [index, one] of found.entries()) {
    const real = await realpath(one.path).catch(() => one.path);
    if ('slip' in one) {
      const { line, message } = one.slip;
      if (index <= last && !slipOf.has(real)) {
        slipOf.set(real, say('{0} is not used, line {1}: {2}', nameOf(one.path), line, message));
      }
    } else if (one.isOpen && !byFile.has(real)) {
      byFile.set(real, nameOf(one.path));
    }
  }
  byFile.delete(await realpath(used).catch(() => used));
  const names = [...byFile.values()];
  const named = names.slice(0, MAX_NAMED).join(', ');
  const more = names.length - MAX_NAMED;
  const slips = [...slipOf.values()].slice(0, MAX_NAMED);
  return names.length === 0
    ? { slips }
    : {
        slips,
        open:
          more > 0
            ? say('Also found, and not used: {0} and {1} more; choose with --file', named, more)
            : say('Also found, and not used: {0}; choose with --file', named),
      };
}

/** @throws {HumanError} naming the file, the line and the fix if the file is not usable */
export function requireReadable(file: StoryFile): StoryList {
  if (file.kind === 'invalid') {
    throw new HumanError(problemOfFile(file.path, problemWords(file.problems[0])));
  }
  return file;
}

/**
 * The story that is meant with this id, see {@link storyMeant}; if several share it, the first.
 * @throws {UsageError} naming the existing ids
 */
function requireStory(list: StoryList, id: string): Story {
  const { path, stories } = list;
  const story = storyMeant(list, id);
  if (story === undefined) {
    const ids = stories.map(story => shorten(story.id, 40));
    const named = ids.slice(0, MAX_NAMED).join(', ');
    if (ids.length === 0) {
      throw new UsageError(
        say(
          '{0} contains no stories yet. Add at least one (docs/story-files.md has an example).',
          path,
        ),
      );
    }
    throw new UsageError(
      ids.length > MAX_NAMED
        ? say(
            '{0} has no story "{1}". It has {2}, … ({3} stories).',
            ...[path, shorten(id, 80), named, ids.length],
          )
        : say('{0} has no story "{1}". It has {2}.', path, shorten(id, 80), named),
    );
  }
  return story;
}

/**
 * The list with this story, among several in which nothing is left to do: a person who takes back a tick has just
 * finished the last of them.
 * @throws {UsageError} if more than one has it
 */
async function finishedListWith({ workspace }: RunFiles, id: string): Promise<string | undefined> {
  const sources = await knownSources(workspace);
  if (sources.some(({ isOpen }) => isOpen)) {
    return undefined;
  }
  const lists = await Promise.all(sources.map(source => readStoryList(source.path)));
  const [only, ...others] = lists.flatMap(list =>
    list !== undefined && storyMeant(list, id) !== undefined ? [list.path] : [],
  );
  if (only === undefined || others.length === 0) {
    return only;
  }
  const named = [only, ...others].map(file => shorten(path.relative(workspace, file), 100));
  throw new UsageError(
    say(
      'Several story files have a story {0}: {1}. Name the one you mean, such as {2}.',
      shorten(id, 80),
      named.slice(0, MAX_NAMED).join(', '),
      FILE_FLAG.of(shellWord(named[0] ?? '')),
    ),
  );
}

/** Reads the story file and finds the story with this id. */
export async function findStory(
  files: RunFiles,
  id: string,
  named: string | undefined,
): Promise<{ readonly file: string; readonly story: Story }> {
  const file =
    (await storyFileOf(files, named)) ??
    (await finishedListWith(files, id)) ??
    (await requireStoryFile(files, named));
  return { file, story: requireStory(requireReadable(await readStoryFileOrThrow(file)), id) };
}
