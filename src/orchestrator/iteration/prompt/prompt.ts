import { fenced } from '../../../base/fenced.ts';
import { titleAfterId } from '../../../base/storyTitle.ts';
import { MANY_UNCLAIMED } from '../../journal/storyRecord.ts';
import { descriptionBelow, type Story } from '../../stories/story.ts';
import type { RalphFreshHandoff } from '../handoff.ts';
import { duplicateNotes } from './duplicateNotes.ts';
import { asData, commandText, idText, pathText, shortRuns, withinBudget } from './foreignText.ts';
import { misreadNotes } from './misreadNotes.ts';
import { mission, rules } from './mission.ts';
import {
  HINT_TOKENS,
  PART,
  PROMPT_BUDGET,
  SECTION_NAMES,
  type SectionName,
} from './promptBudget.ts';
import {
  commitsOf,
  learningsOf,
  nextStoryIdOf,
  patternsOf,
  progressFileOf,
  taskOf,
} from './promptFacts.ts';
import type { PromptInput } from './promptInput.ts';
import {
  andMore,
  bullets,
  bulletsOrNone,
  firstThatFit,
  indented,
  lastThatFit,
  section,
} from './promptLists.ts';
import type { PromptTemplate } from './promptTemplate.ts';
import { renderTemplate } from './renderTemplate.ts';
import { estimateTokens, shortenBlockToTokens, shortenToTokens, tailToTokens } from './tokens.ts';

/** Characters of a hash. */
const SHORT_HASH = 10;
/** Fewer tokens of notes say nothing. */
const LEAST_NOTES = 40;

/** A part of the prompt, named after its section; `template` is the user's own text between sections. */
export interface PromptSection {
  readonly name: string;
  /** Estimated. */
  readonly tokens: number;
  readonly text: string;
}

export interface IterationPrompt {
  readonly text: string;
  /** The whole prompt, in order. */
  readonly sections: readonly PromptSection[];
}

/**
 * The prompt of one iteration and its sections, based on the template of the Ralph-Fresh whitepaper (7.2) with the
 * story's own text, or on the user's own template. Pure: the same input gives the same prompt.
 */
export function iterationPrompt(input: PromptInput, template?: PromptTemplate): IterationPrompt {
  const own = promptSections(input);
  const sections = template ? renderTemplate(template, input, own) : own;
  const text = sections.map(section => section.text).join(template ? '' : '\n\n');
  return {
    text: `${text.trimEnd()}\n`,
    sections: sections
      .filter(section => section.text.trim() !== '')
      .map(({ name, text: part }) => ({ name, tokens: estimateTokens(part), text: part })),
  };
}

/** The non-empty sections, in the order of the prompt. */
function promptSections(
  input: PromptInput,
): { readonly name: SectionName; readonly text: string }[] {
  const bodies: Record<SectionName, string> = {
    heading: heading(input.handoff),
    task: section('Your Task', asData(taskOf(input), PROMPT_BUDGET.task - 20)),
    warnings: warnings(input),
    failedCheck: failedCheck(input),
    review: review(input),
    conflict: conflict(input),
    hints: hints(input),
    answers: answers(input),
    story: story(input),
    code: input.code ?? '',
    state: section('Current State (from files)', currentState(input)),
    mission: section('Your Mission', mission(input)),
    rules: section('Critical Rules', rules(input)),
  };
  return SECTION_NAMES.filter(name => bodies[name] !== '').map(name => ({
    name,
    // The person chooses the budget of the code.
    text: name === 'code' ? bodies.code : withinBudget(bodies[name], PROMPT_BUDGET[name]),
  }));
}

function heading(handoff: RalphFreshHandoff): string {
  return `# Ralph Fresh Context - Iteration ${handoff.iteration}/${handoff.max_iterations}

${handoff.iteration > 1 ? 'You are continuing work that was started by a previous agent iteration.' : 'You are the first agent iteration of this run.'}
**Your context is completely fresh** - you have no memory of previous attempts.`;
}

function warnings(input: PromptInput): string {
  const { handoff, guardNote } = input;
  const storyFile = pathText(input.storyFile ?? '');
  const found: string[] = [];
  const stuckFor = handoff.stuckDetection.iterationsOnSameStory;
  if (input.story && stuckFor >= input.stuckThreshold) {
    found.push(
      `**Stuck**: the last ${stuckFor} iterations on ${idText(input.story.id)} brought no progress. Do not repeat what they tried (see git log and ${progressFileOf(input)}). Take a different approach, or a smaller step that you can finish and commit. If a person must decide something, end with <promise>NEEDS_HUMAN: your question</promise>.`,
    );
  }
  const { unclaimed = 0 } = input;
  if (input.story && unclaimed >= MANY_UNCLAIMED) {
    found.push(
      `**Not marked as done**: the last ${unclaimed} iterations on ${idText(input.story.id)} brought progress, but none marked it as done. If it meets its criteria now, do not redo it: mark it as done in ${storyFile}. Otherwise do only what is missing.`,
    );
  }
  const previous = input.story ? 'previous iteration on this story' : 'previous iteration';
  if (handoff.lastError && handoff.lastError.iteration === input.previousIteration) {
    const { message, recoveryAttempt } = handoff.lastError;
    const recovery =
      recoveryAttempt === undefined
        ? ''
        : ` (since then: ${shortenToTokens(recoveryAttempt, PART.problem)})`;
    found.push(`**The ${previous} failed**: ${shortenToTokens(message, PART.problem)}${recovery}`);
  }
  if (input.refusedPromise && input.refusedPromise.iteration === input.previousIteration) {
    found.push(
      `**The ${previous} claimed completion too early**: the story file still has open stories. Only what is in the files counts.`,
    );
  }
  if (input.elsewhere && input.elsewhere.iteration === input.previousIteration) {
    const { branch, hashes } = input.elsewhere;
    const on = branch === '' ? 'a detached HEAD' : shortenToTokens(pathText(branch), PART.commit);
    const listed = hashes.slice(0, PART.changes).map(hash => hash.slice(0, SHORT_HASH));
    found.push(
      `**The ${previous} committed elsewhere**: ${listed.join(', ')} (on ${on}). The branch that is checked out lacks these commits. If they belong to your task, bring them here (\`git merge\`); commit on this branch only.`,
    );
  }
  if (input.storyFileProblem !== undefined && input.storyFile !== undefined) {
    found.push(
      `**${storyFile} is broken**: ${shortenToTokens(input.storyFileProblem, PART.problem)} Fix it first, without losing any story.`,
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
  found.push(...duplicateNotes(input));
  if (input.lane !== undefined) {
    found.push(
      'Other agents work on other stories at the same time, each in a clone of its own, as you do. Commit on the branch that is checked out; it is merged when your story is done. Do not push, and do not switch branches. Of the story file, and of a file that a task has there, only the mark that your story is done is taken over. Write what others should read into the progress log. If you start a server, use a port from `$RALPH_FRESH_PORT` on (`$RALPH_FRESH_PORT_COUNT` of them are yours).',
    );
  }
  found.push(...uncommittedNotes(input));
  // Last, since it may be long: what is above must not be cut off.
  found.push(...misreadNotes(input));
  return found.length === 0 ? '' : section('Read This First', bullets(found));
}

/** The agent must not commit uncommitted work of others, but must look at that of earlier iterations. */
function uncommittedNotes({ handoff, uncommitted }: PromptInput): string[] {
  const advice =
    'A previous iteration may have been cut off: look at `git status` and `git diff`, keep what is good, commit it, and continue from there.';
  if (uncommitted === undefined) {
    return handoff.git.hasUncommittedChanges && handoff.iteration > 1
      ? [`**There are uncommitted changes.** ${advice}`]
      : [];
  }
  const { before, since } = uncommitted;
  return [
    ...(since.length === 0
      ? []
      : [`**There are uncommitted changes**: ${named(since)}. ${advice}`]),
    ...(before.length === 0
      ? []
      : [
          `**Uncommitted changes from before this run**: ${named(before)}. They are the person's own. Do not commit, revert or remove them, unless your task needs these files; commit only what you changed yourself.`,
        ]),
  ];
}

function named(files: readonly string[]): string {
  const shown = files.slice(0, PART.files).map(file => shortenToTokens(pathText(file), PART.file));
  return [...shown, ...andMore(files.length - shown.length)].join(', ');
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

function endOf({ exitCode, timedOut }: NonNullable<PromptInput['failedCheck']>): string {
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

/** What the story's earlier agent did, and what landed before it. */
function conflict({ conflict: found }: PromptInput): string {
  if (found === undefined) {
    return '';
  }
  const diff = (text: string) =>
    text.trim() === '' ? 'Nothing that git can show.' : fenced(shortRuns(text), 'diff');
  const others = shortRuns(shortenBlockToTokens(found.others, PART.diff));
  const own = shortRuns(shortenBlockToTokens(found.own, PART.diff));
  return section(
    'Earlier Work on This Story Did Not Fit',
    `Iteration ${found.iteration} worked on this story, but meanwhile other work landed that changes the same lines: ${named(found.files)}. You start on the branch with that other work, and without the earlier attempt. Do the story again on top of what is there; take from the attempt what still fits.

What others changed in these files:

${diff(others)}

What the earlier attempt changed:

${diff(own)}`,
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
        `The person who started this run says, newest last:\n${bullets([...andMore(rest, 'earlier'), ...shown])}`,
      );
}

function answers({ answers: given = [] }: PromptInput): string {
  const { shown, rest } = lastThatFit(
    given.map(
      ({ question, answer }) =>
        `Asked: ${shortenToTokens(question, PART.question)}\n  ${
          answer === undefined
            ? 'Not answered: the person let the run continue. It may be settled in the files; otherwise decide it yourself.'
            : `Answered:\n  ${indented(asData(answer, PART.answer))}`
        }`,
    ),
    PROMPT_BUDGET.answers - 70,
  );
  return shown.length === 0
    ? ''
    : section(
        'Answers From the Person',
        `Earlier iterations asked the person. Do not ask again:\n${bullets([...andMore(rest, 'earlier'), ...shown])}`,
      );
}

function story({ story: found }: PromptInput): string {
  if (found === undefined) {
    return '';
  }
  const title = shortenToTokens(found.title, PART.title);
  const lines = [`**${idText(found.id)}${titleAfterId(found.id, title)}**`];
  const group = groupOf(found);
  if (group !== '') {
    lines.push('', `Part of: ${group}`);
  }
  if (found.dependsOn.length > 0) {
    const needs = [
      ...found.dependsOn.slice(0, PART.needs).map(idText),
      ...andMore(found.dependsOn.length - PART.needs),
    ].join(', ');
    lines.push('', `Builds on: ${shortenToTokens(needs, PART.group)}`);
  }
  const description = asData(descriptionBelow(found, title), PART.description);
  if (description !== '') {
    lines.push('', description);
  }
  // Apart from it, so that a fence which it leaves open does not hide them; both share their part of the prompt.
  const left = PART.description - estimateTokens(description);
  if (found.notes !== undefined && left >= LEAST_NOTES) {
    lines.push('', 'Notes:', asData(found.notes, left));
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

/** A task with subtasks is the group of these, and of itself. */
function groupOf({ epic = '', title }: Story): string {
  return epic === title || epic.endsWith(` › ${title}`) ? '' : shortenToTokens(epic, PART.group);
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
