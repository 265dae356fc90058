import path from 'node:path';
import type { RalphFreshHandoff } from '../handoff.ts';
import type { Story } from '../stories/story.ts';
import { shorten } from '../text.ts';
import { estimateTokens, shortenBlockToTokens, shortenToTokens, tailToTokens } from './tokens.ts';

/** A command of the loop's own check that did not pass. */
export interface FailedCheck {
  readonly command: string;
  /** Absent when the command ended in another way than by itself. */
  readonly exitCode?: number;
  readonly timedOut?: boolean;
  /** What it printed, at least the end of it. */
  readonly output: string;
  /** After which it was run. */
  readonly iteration: number;
}

/** The files of the pure loop, relative to the workspace, with forward slashes. */
export interface PlanFiles {
  /** `.ralph/ralph-1` */
  readonly dir: string;
  /** `.ralph/ralph-1/plan.md`: the goal. */
  readonly planFile: string;
  /** `.ralph/ralph-1/progress.md`: what is done. */
  readonly progressFile: string;
  /** `.ralph/ralph-1/errors.log`: what failed. */
  readonly errorsFile: string;
}

/** What the prompt is made of, beside the handoff. */
export interface PromptInput {
  /** Fitted, so that its lists are short. */
  readonly handoff: RalphFreshHandoff;
  /** What the person asked for, in whole; the handoff's own copy may be cut. */
  readonly task?: string;
  /** Absent in free-form mode. */
  readonly story?: Story;
  /** Relative to the workspace, with forward slashes; absent in free-form mode. */
  readonly storyFile?: string;
  /** Relative to the workspace, with forward slashes. */
  readonly progressFile: string;
  readonly stuckThreshold: number;
  /** The last `complete` promise, when the files contradicted it. */
  readonly refusedPromise?: { readonly iteration: number };
  /** Why the story file cannot be read now, when it cannot. */
  readonly storyFileProblem?: string;
  /** The check that took the last claim back. */
  readonly failedCheck?: FailedCheck;
  /** Why the reviewer did not accept the last claim. */
  readonly review?: { readonly iteration: number; readonly objections: readonly string[] };
  /** What an iteration changed that no agent may change, in sentences. */
  readonly guardNote?: { readonly iteration: number; readonly changes: readonly string[] };
  /** What the person said meanwhile, oldest first. */
  readonly hints?: readonly string[];
  /** What the person said to NEEDS_HUMAN questions, oldest first. */
  readonly answers?: readonly { readonly question: string; readonly answer: string }[];
  /** Commands that the loop runs when a story is claimed to be done. */
  readonly verify?: readonly string[];
  /** Given for the pure loop, which works by a plan. */
  readonly plan?: PlanFiles;
}

/**
 * Most tokens of each section, in the order of the prompt, by the estimate of `tokens.ts`. Together they
 * bound the prompt, whatever the files hold.
 */
export const PROMPT_BUDGET = {
  heading: 100,
  task: 1_200,
  warnings: 1_200,
  failedCheck: 1_600,
  review: 800,
  hints: 2_400,
  answers: 800,
  story: 8_500,
  state: 2_400,
  mission: 1_200,
  rules: 500,
} as const;

/** Stable: a context view and the user's own templates name sections by it. */
export type SectionName = keyof typeof PROMPT_BUDGET;

export const SECTION_NAMES = Object.keys(PROMPT_BUDGET) as readonly SectionName[];

/** Most tokens of a whole prompt without a template of the user's own. */
export const PROMPT_MAX_TOKENS = Object.values(PROMPT_BUDGET).reduce((sum, max) => sum + max, 0);

/** Most tokens of single texts within their sections. */
const PART = {
  title: 90,
  description: 1_200,
  criterion: 174,
  criteria: 40,
  problem: 180,
  change: 90,
  changes: 8,
  output: 1_400,
  command: 60,
  commands: 8,
  objection: 150,
  hint: 400,
  question: 150,
  answer: 400,
  commit: 50,
  commits: 10,
  pattern: 115,
  patterns: 1_200,
  learnings: 600,
} as const;

/** So many tokens of hints are in a prompt, the latest. */
export const HINT_TOKENS = PROMPT_BUDGET.hints - 60;

/** @returns what a hint of so many tokens takes in a prompt, at most */
export function hintTokens(tokens: number): number {
  return Math.min(Math.ceil(tokens * 1.1), PART.hint) + 8;
}

/** Longest id and path, in UTF-16 units. */
const ID_UNITS = 80;
const PATH_UNITS = 200;
/** A longer run of one fence character is cut to so many, so that a fence around a text stays short. */
const LONGEST_RUN = 8;

/** The sections that have something to say, in the order of the prompt. Pure. */
export function promptSections(
  input: PromptInput,
): { readonly name: SectionName; readonly text: string }[] {
  const bodies: Record<SectionName, string> = {
    heading: heading(input.handoff),
    task: section('Your Task', asData(taskOf(input), PROMPT_BUDGET.task - 20)),
    warnings: warnings(input),
    failedCheck: failedCheck(input),
    review: review(input),
    hints: hints(input),
    answers: answers(input),
    story: story(input),
    state: section('Current State (from files)', currentState(input)),
    mission: section('Your Mission', mission(input)),
    rules: section('Critical Rules', rules(input)),
  };
  return SECTION_NAMES.filter(name => bodies[name] !== '').map(name => ({
    name,
    text: withinBudget(bodies[name], PROMPT_BUDGET[name]),
  }));
}

/** What the person asked for. */
export function taskOf(input: PromptInput): string {
  return input.task ?? input.handoff.original_prompt;
}

/** A block of somebody else's text, that cannot be taken for a part of the prompt. */
export function asData(text: string, tokens: number): string {
  const block = withoutStructure(shortRuns(shortenBlockToTokens(text, tokens)));
  return withinBudget(block, tokens);
}

function heading(handoff: RalphFreshHandoff): string {
  return `# Ralph Fresh Context - Iteration ${handoff.iteration}/${handoff.max_iterations}

You are continuing work that was started by a previous agent iteration.
**Your context is completely fresh** - you have no memory of previous attempts.`;
}

function warnings(input: PromptInput): string {
  const { handoff, guardNote } = input;
  const storyFile = pathText(input.storyFile ?? '');
  const found: string[] = [];
  const stuckFor = handoff.stuckDetection.iterationsOnSameStory;
  if (input.story && stuckFor >= input.stuckThreshold) {
    found.push(
      `**Stuck**: the last ${stuckFor} iterations on ${idOf(input.story)} brought no progress. Do not repeat what they tried (see git log and ${progressFileOf(input)}). Take a different approach, or a smaller step that you can finish and commit. If a person must decide something, end with <promise>NEEDS_HUMAN: your question</promise>.`,
    );
  }
  if (handoff.lastError && handoff.lastError.iteration === handoff.iteration - 1) {
    const { message, recoveryAttempt } = handoff.lastError;
    const recovery =
      recoveryAttempt === undefined
        ? ''
        : ` (since then: ${shortenToTokens(recoveryAttempt, PART.problem)})`;
    found.push(
      `**The previous iteration failed**: ${shortenToTokens(message, PART.problem)}${recovery}`,
    );
  }
  if (input.refusedPromise?.iteration === handoff.iteration - 1) {
    found.push(
      '**The previous iteration claimed completion too early**: the story file still has open stories. Only what is in the files counts.',
    );
  }
  if (input.storyFileProblem !== undefined && input.storyFile !== undefined) {
    found.push(
      `**${storyFile} is broken**: ${shortenToTokens(input.storyFileProblem, PART.problem)} Mend it first, without losing any story.`,
    );
  }
  if (guardNote && guardNote.changes.length > 0) {
    const shown = guardNote.changes
      .slice(0, PART.changes)
      .map(change => shortenToTokens(change, PART.change));
    const rest = guardNote.changes.length - shown.length;
    found.push(
      `**Iteration ${guardNote.iteration} changed what no agent may change**: ${shown.join(' ')}${rest > 0 ? ` …and ${rest} more.` : ''} Leave these as they are.`,
    );
  }
  if (handoff.git.hasUncommittedChanges) {
    found.push(
      '**There are uncommitted changes.** A previous iteration may have been cut off: look at `git status` and `git diff`, keep what is good, commit it, and go on from there.',
    );
  }
  return found.length === 0 ? '' : section('Read This First', bullets(found));
}

function failedCheck({ failedCheck: check }: PromptInput): string {
  if (check === undefined) {
    return '';
  }
  const output = shortRuns(tailToTokens(check.output, PART.output));
  return section(
    'The Last Check Failed',
    `After iteration ${check.iteration} the loop ran ${commandText(check.command)}: ${endOf(check)}. The work is not done before it passes.${
      output === '' ? ' It printed nothing.' : ` The end of its output:\n\n${fenced(output)}`
    }`,
  );
}

function endOf({ exitCode, timedOut }: FailedCheck): string {
  if (timedOut === true) {
    return 'it took too long and was ended';
  }
  return exitCode === undefined ? 'it failed' : `exit code ${exitCode}`;
}

function review({ review: found }: PromptInput): string {
  if (found === undefined || found.objections.length === 0) {
    return '';
  }
  const { shown, rest } = firstThatFit(
    found.objections.map(objection => shortenToTokens(objection, PART.objection)),
    PROMPT_BUDGET.review - 80,
  );
  return section(
    "The Reviewer's Objections",
    `A reviewer looked at the work of iteration ${found.iteration} and did not accept it. Meet every objection:\n${bullets([...shown, ...andMore(rest)])}`,
  );
}

function hints({ hints: given = [] }: PromptInput): string {
  const { shown, rest } = lastThatFit(
    given.map(hint => indented(asData(hint, PART.hint))).filter(hint => hint !== ''),
    HINT_TOKENS,
  );
  return shown.length === 0
    ? ''
    : section(
        'Hints From the Person',
        `The person who started this run says, latest last:\n${bullets([...andMore(rest, 'earlier'), ...shown])}`,
      );
}

function answers({ answers: given = [] }: PromptInput): string {
  const { shown, rest } = lastThatFit(
    given.map(
      ({ question, answer }) =>
        `Asked: ${shortenToTokens(question, PART.question)}\n  Answered:\n  ${indented(asData(answer, PART.answer))}`,
    ),
    PROMPT_BUDGET.answers - 70,
  );
  return shown.length === 0
    ? ''
    : section(
        'Answers From the Person',
        `Earlier iterations asked, and the person answered. Do not ask again:\n${bullets([...andMore(rest, 'earlier'), ...shown])}`,
      );
}

function story({ story: found }: PromptInput): string {
  if (found === undefined) {
    return '';
  }
  const lines = [`**${idOf(found)}: ${shortenToTokens(found.title, PART.title)}**`];
  const description = asData(found.description, PART.description);
  if (description !== '' && description !== found.title) {
    lines.push('', description);
  }
  if (found.criteria.length > 0) {
    const shown = found.criteria.slice(0, PART.criteria);
    const rest = found.criteria.length - shown.length;
    lines.push(
      '',
      'Acceptance criteria:',
      ...shown.map(({ text, done }) => {
        const box = done === undefined ? '' : `[${done ? 'x' : ' '}] `;
        return `- ${box}${shortenToTokens(text, PART.criterion)}`;
      }),
      ...andMore(rest, 'more in the story file').map(line => `- ${line}`),
    );
  }
  return section('Your Story', lines.join('\n'));
}

function currentState(input: PromptInput): string {
  const { prd, git, progress } = input.handoff;
  const parts: string[] = [];
  if (prd) {
    parts.push(`### PRD Status
Progress: ${prd.storiesCompleted}/${prd.storiesTotal} stories complete
Next story: ${nextStoryIdOf(input.handoff)}`);
  }
  parts.push(`### Recent Git History${git.branch === '' ? '' : ` (branch ${shortenToTokens(git.branch, PART.commit)})`}
${bulletsOrNone(commitsOf(input.handoff).map(({ hash, message }) => `${hash}: ${message}`))}`);
  parts.push(`### Patterns Learned
${bulletsOrNone(patternsOf(input.handoff))}`);
  if (progress.recentLearnings.length > 0) {
    parts.push(`### Recent Learnings
${bulletsOrNone(learningsOf(input.handoff))}`);
  }
  return parts.join('\n\n');
}

export function nextStoryIdOf(handoff: RalphFreshHandoff): string {
  return shorten(handoff.prd?.nextStoryId ?? 'none', ID_UNITS);
}

/** Newest first, as git lists them. */
export function commitsOf(handoff: RalphFreshHandoff): { hash: string; message: string }[] {
  return handoff.git.recentCommits.slice(0, PART.commits).map(({ hash, message }) => ({
    hash: shorten(hash, 40),
    message: shortenToTokens(message, PART.commit),
  }));
}

/** The latest ones, as many as fit. */
export function patternsOf(handoff: RalphFreshHandoff): string[] {
  return latest(handoff.progress.patterns, PART.patterns);
}

/** The latest ones, as many as fit. */
export function learningsOf(handoff: RalphFreshHandoff): string[] {
  return latest(handoff.progress.recentLearnings, PART.learnings);
}

function latest(values: readonly string[], tokens: number): string[] {
  const lines = values.slice(-100).map(value => shortenToTokens(value, PART.pattern));
  return lastThatFit(lines, tokens).shown;
}

function mission(input: PromptInput): string {
  const checks = checksText(input.verify);
  if (input.plan) {
    return planMission(input.plan, checks, input.handoff.iteration);
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
          `**READ** the codebase (start with ${pathText(input.storyFile)})`,
          `**WORK** on story ${idOf(input.story)}`,
          '**COMMIT** frequently with atomic commits',
          ...checkStep(checks, 'before you mark the story as complete'),
          `**UPDATE** ${path.posix.basename(pathText(input.storyFile))} when the story is complete and its tests pass (${idOf(input.story)}: ${doneMark(input.storyFile)}), and append what you learned to ${progressFile}`,
          `**SIGNAL** when all stories are complete: end your answer with ${promise} on a line of its own`,
        ];
  return numbered(steps);
}

/** The pure loop: memory is the plan's folder and git, one thing in each iteration. */
function planMission(plan: PlanFiles, checks: string[], iteration: number): string {
  const progressFile = pathText(plan.progressFile);
  const errorsFile = pathText(plan.errorsFile);
  return numbered([
    `**READ** your memory: ${pathText(plan.planFile)} (the goal), ${progressFile} (what is done), ${errorsFile} (what failed), and \`git log\``,
    '**DECIDE** on the next step: what of the plan is open, what was done last, what failed',
    "**DO ONE THING**: one focused change, and run the plan's tests",
    ...checkStep(checks, 'before you tick anything in the plan'),
    `**WRITE** it down: tick in the plan what is done and append \`## Iteration ${iteration} - what you did\` to ${progressFile}; append what failed, and why, to ${errorsFile}; commit`,
    '**SIGNAL** and end: when the whole plan is done, end your answer with `<promise>COMPLETE: {message}</promise>`; when only a person can go on, with `<promise>NEEDS_HUMAN: {reason}</promise>`; else just end, and a fresh iteration goes on',
  ]);
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

function doneMark(storyFile: string): string {
  return /\.(?:md|markdown|txt)$/i.test(storyFile)
    ? 'tick its box, [x]'
    : "passes: true, or the file's own field for done";
}

function rules(input: PromptInput): string {
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
    '**Commit frequently** - Proof of work for next iteration',
    `**Update state files** - ${memory} ${isPlural ? 'are' : 'is'} your memory; never commit .omc/state`,
    '**Ask when you must** - If only a person can go on: `<promise>NEEDS_HUMAN: your question</promise>`. If the story cannot be done: `<promise>TASK BLOCKED: why</promise>`',
  ]);
}

function progressFileOf({ plan, progressFile }: PromptInput): string {
  return pathText(plan?.progressFile ?? progressFile);
}

function pathText(file: string): string {
  return shorten(file, PATH_UNITS);
}

function idOf(found: Story): string {
  return shorten(found.id, ID_UNITS);
}

/** A command as inline code that it cannot end. */
export function commandText(command: string): string {
  const text = shortRuns(shortenToTokens(command, PART.command));
  const mark = '`'.repeat(longestRun(text, '`') + 1);
  const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${mark}${gap}${text}${gap}${mark}`;
}

/** A code block that its text cannot close. */
function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text, '`') + 1));
  return `${fence}text\n${text}\n${fence}`;
}

function longestRun(text: string, char: string): number {
  let longest = 0;
  let run = 0;
  for (const at of text) {
    run = at === char ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

function shortRuns(text: string): string {
  return text.replaceAll(/([`~])\1{8,}/g, (_, char: string) => char.repeat(LONGEST_RUN));
}

/**
 * What others wrote must not look like a part of ours: their headings are shown as text, and a code block
 * that they left open is closed.
 */
function withoutStructure(block: string): string {
  let fence: string | undefined;
  const lines = block.split('\n').map(line => {
    const before = fence;
    fence = fenceAfter(line, fence);
    return before === undefined && fence === undefined ? withoutHeading(line) : line;
  });
  return closeFence(lines.join('\n'));
}

function withoutHeading(line: string): string {
  return line
    .replace(/^([ \t]*)(#{1,6})(?=\s|$)/, '$1\\$2')
    .replace(/^([ \t]*)(=+|-{2,})[ \t]*$/, '$1\\$2');
}

function closeFence(text: string): string {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    fence = fenceAfter(line, fence);
  }
  return fence === undefined ? text : `${text}\n${fence}`;
}

/** @returns the mark of the code block that is open behind the line (CommonMark 4.5) */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, mark, info = ''] = /^[ \t]*(?:- )?(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (mark === undefined) {
    return open;
  }
  if (open !== undefined) {
    return mark.startsWith(open) && info.trim() === '' ? undefined : open;
  }
  return mark.startsWith('`') && info.includes('`') ? undefined : mark;
}

/** The last word on a section's size; its parts are cut with more care before. */
function withinBudget(text: string, tokens: number): string {
  return estimateTokens(text) <= tokens
    ? text
    : closeFence(shortenBlockToTokens(text, tokens - LONGEST_RUN));
}

/** As many from the front as fit. */
function firstThatFit(lines: readonly string[], tokens: number): { shown: string[]; rest: number } {
  const shown: string[] = [];
  let left = tokens;
  for (const line of lines) {
    left -= estimateTokens(line) + 1;
    if (left < 0 && shown.length > 0) {
      break;
    }
    shown.push(line);
  }
  return { shown, rest: lines.length - shown.length };
}

/** As many from the end as fit, in their order. */
function lastThatFit(lines: readonly string[], tokens: number): { shown: string[]; rest: number } {
  const { shown, rest } = firstThatFit([...lines].reverse(), tokens);
  return { shown: shown.reverse(), rest };
}

function andMore(rest: number, what = 'more'): string[] {
  return rest > 0 ? [`…and ${rest} ${what}`] : [];
}

function indented(block: string): string {
  return block.replaceAll('\n', '\n  ');
}

function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}

function numbered(steps: readonly string[]): string {
  return steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
}

function bullets(lines: readonly string[]): string {
  return lines.map(line => `- ${line}`).join('\n');
}

function bulletsOrNone(lines: readonly string[]): string {
  return lines.length === 0 ? '- none yet' : bullets(lines);
}
