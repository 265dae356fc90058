import path from 'node:path';
import type { RalphFreshHandoff } from './handoff.ts';
import type { Story } from './stories/story.ts';
import { shorten, shortenBlock } from './text.ts';

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
}

/** Longest text of each section, in UTF-16 units, so that the prompt is bounded whatever the files hold. */
const BUDGET = {
  task: 4_000,
  storyTitle: 300,
  storyDescription: 4_000,
  criterion: 600,
  criteria: 40,
  learning: 400,
  patterns: 40,
  learnings: 10,
  id: 80,
  problem: 600,
} as const;

/**
 * The prompt of one iteration, by the template of the Ralph-Fresh whitepaper (7.2), with the story's own
 * text. Pure: the same input gives the same prompt.
 */
export function generateIterationPrompt(input: PromptInput): string {
  const { handoff, story } = input;
  return `${[
    heading(handoff),
    section(
      'Your Task',
      noHeadings(shortenBlock(input.task ?? handoff.original_prompt, BUDGET.task)),
    ),
    ...warnings(input),
    ...(story ? [storySection(story)] : []),
    section('Current State (from files)', currentState(handoff)),
    mission(input),
    criticalRules(input),
  ].join('\n\n')}\n`;
}

function heading(handoff: RalphFreshHandoff): string {
  return `# Ralph Fresh Context - Iteration ${handoff.iteration}/${handoff.max_iterations}

You are continuing work that was started by a previous agent iteration.
**Your context is completely fresh** - you have no memory of previous attempts.`;
}

function warnings(input: PromptInput): string[] {
  const { handoff, story, storyFile } = input;
  const found: string[] = [];
  const stuckFor = handoff.stuckDetection.iterationsOnSameStory;
  if (story && stuckFor >= input.stuckThreshold) {
    found.push(
      `**Stuck**: the last ${stuckFor} iterations on ${idOf(story)} brought no progress. Do not repeat what they tried (see git log and ${input.progressFile}). Take a different approach, or a smaller step that you can finish and commit. If a person must decide something, end with <promise>NEEDS_HUMAN: your question</promise>.`,
    );
  }
  if (handoff.lastError && handoff.lastError.iteration === handoff.iteration - 1) {
    found.push(
      `**The previous iteration failed**: ${shorten(handoff.lastError.message, BUDGET.problem)}`,
    );
  }
  if (input.refusedPromise?.iteration === handoff.iteration - 1) {
    found.push(
      '**The previous iteration claimed completion too early**: the story file still has open stories. Only what is in the files counts.',
    );
  }
  if (input.storyFileProblem !== undefined && storyFile !== undefined) {
    found.push(
      `**${storyFile} is broken**: ${shorten(input.storyFileProblem, BUDGET.problem)} Mend it first, without losing any story.`,
    );
  }
  if (handoff.git.hasUncommittedChanges) {
    found.push(
      '**There are uncommitted changes.** A previous iteration may have been cut off: look at `git status` and `git diff`, keep what is good, commit it, and go on from there.',
    );
  }
  return found.length === 0
    ? []
    : [section('Read This First', found.map(line => `- ${line}`).join('\n'))];
}

function storySection(story: Story): string {
  const lines = [`**${idOf(story)}: ${shorten(story.title, BUDGET.storyTitle)}**`];
  const description = shortenBlock(story.description, BUDGET.storyDescription);
  if (description !== '' && description !== story.title) {
    lines.push('', noHeadings(description));
  }
  if (story.criteria.length > 0) {
    lines.push('', 'Acceptance criteria:');
    const shown = story.criteria.slice(0, BUDGET.criteria);
    lines.push(...shown.map(criterion => `- ${shorten(criterion.text, BUDGET.criterion)}`));
    const rest = story.criteria.length - shown.length;
    if (rest > 0) {
      lines.push(`- …and ${rest} more in the story file`);
    }
  }
  return section('Your Story', lines.join('\n'));
}

function currentState(handoff: RalphFreshHandoff): string {
  const { prd, git, progress } = handoff;
  const parts: string[] = [];
  if (prd) {
    parts.push(`### PRD Status
Progress: ${prd.storiesCompleted}/${prd.storiesTotal} stories complete
Next story: ${shorten(prd.nextStoryId ?? 'none', BUDGET.id)}`);
  }
  parts.push(`### Recent Git History${git.branch === '' ? '' : ` (branch ${shorten(git.branch, 120)})`}
${bullets(git.recentCommits.map(({ hash, message }) => `${hash}: ${shorten(message, 120)}`))}`);
  parts.push(`### Patterns Learned
${bullets(progress.patterns.slice(-BUDGET.patterns).map(pattern => shorten(pattern, BUDGET.learning)))}`);
  if (progress.recentLearnings.length > 0) {
    parts.push(`### Recent Learnings
${bullets(progress.recentLearnings.slice(-BUDGET.learnings).map(learning => shorten(learning, BUDGET.learning)))}`);
  }
  return parts.join('\n\n');
}

function mission({ handoff, story, storyFile, progressFile }: PromptInput): string {
  const promise = `<promise>${handoff.completion_promise}</promise>`;
  if (story === undefined || storyFile === undefined) {
    return section(
      'Your Mission',
      `1. **READ** the codebase and the recent commits
2. **WORK** on the next small step of the task
3. **COMMIT** frequently with atomic commits
4. **WRITE DOWN** what later iterations must know in ${progressFile}
5. **SIGNAL** when the whole task is done and its tests pass: end your answer with ${promise} on a line of its own`,
    );
  }
  return section(
    'Your Mission',
    `1. **READ** the codebase (start with ${storyFile})
2. **WORK** on story ${idOf(story)}
3. **COMMIT** frequently with atomic commits
4. **UPDATE** ${path.posix.basename(storyFile)} when the story is complete and its tests pass (${idOf(story)}: passes: true, or the file's own field for done), and append what you learned to ${progressFile}
5. **SIGNAL** when all stories are complete: end your answer with ${promise} on a line of its own`,
  );
}

function criticalRules({ story, storyFile, progressFile }: PromptInput): string {
  const rules = [
    "- **Trust git history** - Don't redo completed work",
    story
      ? '- **Focus on ONE story** - Complete fully before moving on, and change no other story'
      : '- **Focus on ONE step** - Complete fully before moving on',
    '- **Commit frequently** - Proof of work for next iteration',
    `- **Update state files** - ${storyFile === undefined ? `${progressFile} is` : `${storyFile} and ${progressFile} are`} your memory; never commit .omc/state`,
    '- **Ask when you must** - If only a person can go on: `<promise>NEEDS_HUMAN: your question</promise>`. If the story cannot be done: `<promise>TASK BLOCKED: why</promise>`',
  ];
  return section('Critical Rules', rules.join('\n'));
}

function idOf(story: Story): string {
  return shorten(story.id, BUDGET.id);
}

/** What others wrote must not look like a part of ours: their headings are shown as text. */
function noHeadings(block: string): string {
  return block
    .replaceAll(/^(\s{0,3})(#{1,6})(?=\s|$)/gm, '$1\\$2')
    .replaceAll(/^(={3,}|-{3,})\s*$/gm, '\\$1');
}

function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}

function bullets(lines: readonly string[]): string {
  return lines.length === 0 ? '- none yet' : lines.map(line => `- ${line}`).join('\n');
}
