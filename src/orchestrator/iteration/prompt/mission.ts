import path from 'node:path';
import type { Story } from '../../stories/story.ts';
import { documentsNextTo } from '../../stories/storyPlaces.ts';
import { commandText, idText, pathText } from './foreignText.ts';
import { PART } from './promptBudget.ts';
import { progressFileOf } from './promptFacts.ts';
import type { PlanFiles, PromptInput } from './promptInput.ts';
import { andMore, bullets, numbered } from './promptLists.ts';
import { shortenToTokens } from './tokens.ts';

/**
 * Code that was not found is written again: the more an agent searches, the less it invents.
 * @param pin its path, if there is one
 */
function discovery(pin: string | undefined): string {
  const read =
    pin === undefined
      ? 'Read the files that this prompt names'
      : `Search \`${pathText(pin)}\` (the Pin: parts of the project with keywords, files and specs), and read the files that this prompt names`;
  return `**Before implementing, find what exists**:
- ${read}
- Search with several words: synonyms, and parts of names ("auth", "login", "session")
- Read what matches, and use or extend it
- Write new code only if nothing fits; functions and files that repeat existing ones are reported`;
}

/** The steps of the agent's task. */
export function mission(input: PromptInput): string {
  const checks = checksText(input.verify);
  if (input.plan) {
    return planMission(input.plan, checks, input);
  }
  const promise = `<promise>${shortenToTokens(input.handoff.completion_promise, PART.command)}</promise>`;
  const progressFile = progressFileOf(input);
  const steps =
    input.story === undefined || input.storyFile === undefined
      ? [
          '**READ** the codebase and the recent commits',
          '**WORK** on the next small step of the task',
          '**COMMIT** frequently with atomic commits',
          ...checkStep(checks, 'before you say that the task is done'),
          `**WRITE DOWN** what later iterations must know in ${progressFile}`,
          `**SIGNAL** when the whole task is done and its tests pass: end your answer with ${promise} on a line of its own`,
        ]
      : [
          `**READ** the codebase (start with ${pathText(ownFile(input.storyFile, input.story))}${documentsText(input.storyFile)})${detailsText(input.story)}`,
          `**WORK** on story ${idText(input.story.id)}`,
          commitStep(input.storyFile, input.story.id),
          ...checkStep(checks, 'before you mark the story as complete'),
          `**UPDATE** ${path.posix.basename(pathText(ownFile(input.storyFile, input.story)))} when the story is complete and its tests pass (${taskText(input.story)}: ${doneText(input)}), and append what you learned to ${progressFile}`,
          `**SIGNAL** when all stories are complete: end your answer with ${promise} on a line of its own`,
        ];
  return `${numbered(steps)}\n\n${discovery(input.pin)}`;
}

/** The pure loop: its memory is the plan's folder and git; one task per iteration. */
function planMission(
  plan: PlanFiles,
  checks: string[],
  { handoff: { iteration }, pin }: PromptInput,
): string {
  const progressFile = pathText(plan.progressFile);
  const errorsFile = pathText(plan.errorsFile);
  const steps = numbered([
    `**READ** your memory: ${pathText(plan.planFile)} (the goal), ${progressFile} (what is done), ${errorsFile} (what failed), and \`git log\``,
    '**DECIDE** on the next step: what of the plan is open, what was done last, what failed',
    "**DO ONE THING**: one focused change, and run the plan's tests",
    ...checkStep(checks, 'before you tick anything in the plan'),
    `**WRITE** it down: tick in the plan what is done and append \`## Iteration ${iteration} - what you did\` to ${progressFile}; append what failed, and why, to ${errorsFile}; commit`,
    '**SIGNAL** and end: when the whole plan is done, end your answer with `<promise>COMPLETE: {message}</promise>`; when you need a person to continue, with `<promise>NEEDS_HUMAN: {reason}</promise>`; otherwise just end, and a fresh iteration continues',
  ]);
  return `${steps}\n\n${discovery(pin)}`;
}

function checkStep(checks: readonly string[], when: string): string[] {
  return checks.length === 0
    ? []
    : [
        `**CHECK** ${when} that this passes, for the loop runs it too and takes the mark back when it fails: ${checks.join(', ')}`,
      ];
}

function checksText(verify: readonly string[] = []): string[] {
  const shown = verify.slice(0, PART.commands).map(commandText);
  return [...shown, ...andMore(verify.length - shown.length)];
}

/** The tasks of an orchestration are committed in the form that its documents ask for. */
function commitStep(storyFile: string, storyId: string): string {
  const commit = '**COMMIT** frequently with atomic commits';
  return isYaml(storyFile) && !isBmad(storyFile)
    ? `${commit}, each with a message of the form ${commandText(`[fresh-context] ${idText(storyId)} - summary`)}`
    : commit;
}

/** Where else the story is described. */
function detailsText({ details }: Pick<Story, 'details'>): string {
  return details === undefined
    ? ''
    : ` and what describes the story: ${pathText(details)}, next to it or in its story_location; without that file, the epics in the planning documents`;
}

function documentsText(storyFile: string): string {
  const names = documentsNextTo(storyFile);
  return names.length === 0
    ? ''
    : ` and the documents next to it, such as ${names.slice(0, 2).join(' and ')}, if there are any`;
}

/** The story as its file names it. In Task Master, those of another tag have that tag in front of their id here. */
function taskText({ epic, id }: Story): string {
  const slash = id.lastIndexOf('/');
  const tag = id.slice(0, Math.max(0, slash));
  return tag !== '' && (epic === tag || epic?.startsWith(`${tag} › `) === true)
    ? `task ${idText(id.slice(slash + 1))} of the tag ${idText(tag)}`
    : idText(id);
}

/** Where the story is: in the story file, or in a file of its own. */
function ownFile(storyFile: string, { file }: Pick<Story, 'file'>): string {
  return file === undefined ? storyFile : path.posix.join(storyFile, file);
}

/** What the file is read for: its own key and word, and no other one. */
function doneText({ doneMark, storyFile = '', story }: PromptInput): string {
  if (doneMark === undefined) {
    return "the file's own mark for done";
  }
  if (doneMark.startsWith('[')) {
    return `tick its box, ${doneMark}`;
  }
  const mark = commandText(doneMark);
  if (story?.file !== undefined) {
    return `${mark}; leave the file where it is`;
  }
  return isBmad(storyFile) ? `${mark}, and not review: nobody else marks it as done` : mark;
}

function isBmad(storyFile: string): boolean {
  return /(?:^|\/)sprint-status\.ya?ml$/i.test(storyFile);
}

function isYaml(storyFile: string): boolean {
  return /\.ya?ml$/i.test(storyFile);
}

/** Rules for every step. */
export function rules(input: PromptInput): string {
  const { plan, story: found, storyFile } = input;
  const progressFile = progressFileOf(input);
  let memory =
    storyFile === undefined ? progressFile : `${pathText(storyFile)} and ${progressFile}`;
  let isPlural = storyFile !== undefined;
  if (plan) {
    memory = `the files in ${pathText(plan.dir)}`;
    isPlural = true;
  }
  return bullets([
    "**Trust git history** - Don't redo completed work",
    found
      ? '**Focus on ONE story** - Complete fully before moving on, and change no other story'
      : '**Focus on ONE step** - Complete fully before moving on',
    '**Commit frequently** - Proof of work for next iteration; stay on the branch that is checked out',
    `**Update state files** - ${memory} ${isPlural ? 'are' : 'is'} your memory; never commit .omc/state`,
    `**Ask when you must** - If you need a person to continue: \`<promise>NEEDS_HUMAN: your question</promise>\`. If the ${found ? 'story' : 'task'} cannot be done: \`<promise>TASK BLOCKED: why</promise>\``,
    ...(found
      ? [
          '**Leave other work** - If more is needed outside of this story, add no story and do not do it: report it on a line of its own in your answer, `<discovered>title | why</discovered>`',
        ]
      : []),
  ]);
}
