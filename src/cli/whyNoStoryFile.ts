import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Message, say } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import {
  emptySource,
  knownSources,
  placeWithoutFile,
  planWithoutCheckbox,
} from '../orchestrator/stories/knownSources.ts';
import { workTreeRoot } from '../orchestrator/stories/outsideLinks.ts';
import { problemWords, readStoryFile } from '../orchestrator/stories/storyFile.ts';
import { FILE_FLAG, type Naming } from '../orchestrator/stories/storyFolder.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { howToGoBack, newestLeftOnBranch } from './storyFileElsewhere.ts';

/** Without a task, it is no list for a run, but its tool is in use here. */
const TASK_MASTER_PLACE = '.taskmaster/tasks/tasks.json';
/** Maximum number of files in a message. */
const MAX_NAMED = 8;

/** What was found and, if one only has to be named, how. */
type NoStoryFile = { readonly found: Message } & (
  | { readonly choice?: Message | undefined; readonly finished?: undefined }
  /** There are several files, and nothing is left to do in any of them: in these, as absolute paths. */
  | { readonly choice: Message; readonly finished: readonly string[] }
);

/** Why no story file is used by default. */
export async function whyNoStoryFile(
  files: RunFiles,
  naming: Naming = FILE_FLAG,
): Promise<NoStoryFile> {
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
    ...(open === undefined
      ? {
          choice: say(
            'All of their stories are done. Add one, or name a file with {0}.',
            naming.flag,
          ),
          finished: sources.map(source => source.path),
        }
      : { choice: say('Name the one you mean, such as {0}.', naming.of(shellWord(nameOf(open)))) }),
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
