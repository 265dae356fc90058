import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { type Message, say, sentences } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import {
  emptySource,
  findStoryFile,
  knownSources,
  placeWithoutFile,
  planWithoutCheckbox,
  sourcesAndSlips,
} from '../orchestrator/stories/knownSources.ts';
import { workTreeRoot } from '../orchestrator/stories/outsideLinks.ts';
import type { Story, StoryFile, StoryList } from '../orchestrator/stories/story.ts';
import {
  problemOfFile,
  problemWords,
  readStoryFile,
  readStoryFileOrThrow,
} from '../orchestrator/stories/storyFile.ts';
import { FILE_FLAG, type Naming, namedSource } from '../orchestrator/stories/storyFolder.ts';
import { storyMeant } from '../orchestrator/stories/storyMeant.ts';
import { type LeftOnBranch, leftOnBranch } from '../orchestrator/workspace/leftOnBranch.ts';
import { readNewestRun } from '../orchestrator/workspace/runCheckpoint.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { activeRun } from './loopEnd.ts';
import { wayToBranch } from './wayToBranch.ts';

/** Where stories created for a run are written, unless a file is named. */
export const OWN_STORY_FILE = path.join('.omc', 'prd.json');
/** Without a task, it is no list for a run, but its tool is in use here. */
const TASK_MASTER_PLACE = '.taskmaster/tasks/tasks.json';
/** Maximum number of ids in a message. */
const MAX_NAMED = 8;

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
    const { choice, found } = await whyNoStoryFile(files, naming);
    throw new HumanError(
      choice === undefined
        ? say(
            '{0} Write .omc/prd.json (docs/story-files.md describes it), or name yours with {1}.',
            found,
            naming.flag,
          )
        : sentences([found, choice]),
    );
  }
  return file;
}

/**
 * A person in a subfolder may mean the project. Does not search above the repository. A hidden folder, such as `.kiro`,
 * belongs to a tool, although it has the tool's list.
 */
async function folderAboveWithStories(workspace: string): Promise<string | undefined> {
  const top = workTreeRoot(workspace);
  const isOutside = top === workspace && !existsSync(path.join(top, '.git'));
  const root = isOutside ? path.parse(workspace).root : top;
  for (let dir = workspace; dir !== root; ) {
    dir = path.dirname(dir);
    const isHidden = path.basename(dir).startsWith('.') && dir !== root;
    if (!isHidden && (await knownSources(dir)).length > 0) {
      return dir;
    }
  }
  return undefined;
}

/**
 * Why no story file is used by default.
 * @returns what was found and, if one only has to be named, how
 */
export async function whyNoStoryFile(
  files: RunFiles,
  naming: Naming = FILE_FLAG,
): Promise<{ readonly found: Message; readonly choice?: Message }> {
  const { workspace } = files;
  const sources = await knownSources(workspace);
  const nameOf = ({ path: file }: { path: string }) => shorten(path.relative(workspace, file), 100);
  const candidates = sources.map(nameOf);
  if (candidates.length === 0) {
    const left = await newestLeftOnBranch(files);
    if (left !== undefined) {
      return {
        found: say('No story file was found in {0}.', workspace),
        choice: await howToGoBack(files, left),
      };
    }
    const odd = await placeWithoutFile(workspace);
    if (odd !== undefined) {
      return {
        found: foundOdd(workspace, nameOf(odd), odd.kind),
        choice: say(
          'Put a file with the stories in its place, or name another file with {0}.',
          naming.flag,
        ),
      };
    }
    if ((await readStoryFile(path.join(workspace, TASK_MASTER_PLACE))) !== undefined) {
      return {
        found: say(
          'No story file was found in {0}: {1} has no tasks.',
          workspace,
          TASK_MASTER_PLACE,
        ),
        choice: say(
          'Let Task Master write them ("task-master parse-prd FILE"), or name another file with {0}.',
          naming.flag,
        ),
      };
    }
    const empty = await emptySource(workspace);
    if (empty !== undefined) {
      const { file, isBlank } = empty;
      const [problem] = file.problems;
      // What would be in it, only its place tells.
      const isOfTool = isBlank && /(?:sprint-status|tasks)\.ya?ml$/.test(file.path);
      return {
        found: isBlank
          ? say('No story file was found in {0}: {1} is empty.', workspace, nameOf(file))
          : say('No story file was found in {0}: {1} has no tasks.', workspace, nameOf(file)),
        choice: isOfTool
          ? say(
              'Let the tool that it belongs to write it, restore it, or name another file with {0}.',
              naming.flag,
            )
          : problem && say('Line {0}: {1}', problem.line, problem.message),
      };
    }
    const above = await folderAboveWithStories(workspace);
    if (above !== undefined) {
      return {
        found: say('No story file was found in {0}, but in {1}.', workspace, above),
        choice: say('Go there, or name it: --cwd {0}', shellWord(above)),
      };
    }
    const plan = await planWithoutCheckbox(workspace);
    if (plan !== undefined) {
      const [problem] = plan.problems;
      const found = say(
        'No story file was found in {0}: {1} has no checkbox.',
        workspace,
        nameOf(plan),
      );
      // Something hides the checkboxes, or keeps them from being read.
      if (problem?.isPlaced === true) {
        return { found, choice: problemWords(problem) };
      }
      return {
        found,
        choice: say(
          'Write each of its stories as "- [ ] …", name another file with {0}, or let an agent plan the stories: ralph-fresh plan "your task" --write',
          naming.flag,
        ),
      };
    }
    return {
      found: say(
        'No story file was found in {0}: no prd.json, no Markdown plan, and no list of another tool (Task Master, Backlog.md, Spec Kit, Kiro, OpenSpec, BMAD, Beads, …).',
        workspace,
      ),
    };
  }
  const open = sources.find(({ isOpen }) => isOpen);
  const named = candidates.slice(0, MAX_NAMED).join(', ');
  const more = candidates.length - MAX_NAMED;
  return {
    found:
      more > 0
        ? say('There are several story files in {0}: {1} and {2} more.', workspace, named, more)
        : say('There are several story files in {0}: {1}.', workspace, named),
    // Nobody should be sent to a list that is finished.
    choice:
      open === undefined
        ? say('All of their stories are done. Add one, or name a file with {0}.', naming.flag)
        : say('Name the one you mean, such as {0}.', naming.of(shellWord(nameOf(open)))),
  };
}

function foundOdd(
  workspace: string,
  name: string,
  kind: 'folder' | 'link' | 'linkLoop' | 'pipe',
): Message {
  switch (kind) {
    case 'folder':
      return say('No story file was found in {0}: {1} is a folder.', workspace, name);
    case 'link':
      return say('No story file was found in {0}: {1} is a link to nothing.', workspace, name);
    case 'linkLoop':
      return say(
        'No story file was found in {0}: {1} is a link that leads to itself.',
        workspace,
        name,
      );
    case 'pipe':
      return say('No story file was found in {0}: {1} is a pipe or a device.', workspace, name);
  }
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

/**
 * Reports which branch contains the story file of the newest run, if it is missing here.
 * @throws {HumanError} in that case
 */
export async function requireRunsStoryFile(files: RunFiles): Promise<void> {
  const left = await newestLeftOnBranch(files);
  if (left !== undefined) {
    throw new HumanError(
      say(
        'There is no {0} in {1}. {2}',
        shorten(left.file, 200),
        files.workspace,
        await howToGoBack(files, left),
      ),
    );
  }
}

/** The story file of the newest run, if it is missing because another branch is checked out. */
async function newestLeftOnBranch(files: RunFiles): Promise<LeftOnBranch | undefined> {
  const last = await readNewestRun(files);
  return last && leftOnBranch(files.workspace, last);
}

async function howToGoBack(
  { workspace }: RunFiles,
  { branch, file }: LeftOnBranch,
): Promise<Message> {
  return say(
    'The last run worked on the branch {0}, which has {1}. {2}',
    shorten(branch, 200),
    shorten(file, 200),
    await wayToBranch(workspace, branch),
  );
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

/** Reads the story file and finds the story with this id. */
export async function findStory(
  files: RunFiles,
  id: string,
  named: string | undefined,
): Promise<{ readonly file: string; readonly story: Story }> {
  const file = await requireStoryFile(files, named);
  return { file, story: requireStory(requireReadable(await readStoryFileOrThrow(file)), id) };
}
