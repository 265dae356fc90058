import { shorten } from '../../../base/text.ts';
import type { RalphFreshHandoff } from '../handoff.ts';
import { idText, pathText } from './foreignText.ts';
import { PART } from './promptBudget.ts';
import type { PromptInput } from './promptInput.ts';
import { lastThatFit } from './promptLists.ts';
import { shortenToTokens } from './tokens.ts';

/** The person's task. */
export function taskOf(input: PromptInput): string {
  return input.task ?? input.handoff.original_prompt;
}

/** The file for what this agent learned. */
export function progressFileOf({ plan, progressFile }: PromptInput): string {
  return pathText(plan?.progressFile ?? progressFile);
}

/** The next story, according to the handoff; `none` without one. */
export function nextStoryIdOf(handoff: RalphFreshHandoff): string {
  return idText(handoff.prd?.nextStoryId ?? 'none');
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
