import { shorten } from '../../base/text.ts';
import { PROMPT_BUDGET } from '../../orchestrator/iteration/prompt/promptBudget.ts';
import { estimateTokens, MAX_UNITS_PER_TOKEN } from '../../orchestrator/iteration/prompt/tokens.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { percent, type Translate, wholeNumber } from '../../presentation/translate.ts';
import type { ShownPrompt, ShownSection } from './protocol.ts';

type Started = Extract<RunEvent, { type: 'iteration.started' }>;
export type PromptSections = readonly { readonly name: string; readonly tokens: number }[];

/** Our prompt has a dozen; a template may use one several times. */
const MAX_SECTIONS = 60;
const MAX_NAME = 60;
/** Named files that are listed, and their longest path in UTF-16 units. */
const MAX_NAMED = 5;
const MAX_PATH = 80;

/** Heading of each section, in English as sent to agents. */
const HEADINGS: Readonly<Record<string, string>> = {
  heading: '# Ralph Fresh Context',
  task: '## Your Task',
  warnings: '## Read This First',
  failedCheck: '## The Last Check Failed',
  review: "## The Reviewer's Objections",
  hints: '## Hints From the Person',
  answers: '## Answers From the Person',
  story: '## Your Story',
  code: '## Where to Look',
  state: '## Current State (from files)',
  mission: '## Your Mission',
  rules: '## Critical Rules',
};

/** The newest started iteration whose prompt is known. */
export function lastPrompt(events: readonly RunEvent[]): Started | undefined {
  return events.findLast(event => event.type === 'iteration.started');
}

/** The start of an iteration, with what its prompt contained. */
export function promptOf(events: readonly RunEvent[], iteration: number): Started | undefined {
  return prompts(events).findLast(started => started.iteration === iteration);
}

function prompts(events: readonly RunEvent[]): readonly Started[] {
  return events.filter(event => event.type === 'iteration.started');
}

/**
 * The composition of a prompt, section by section. Pure.
 * @param wanted the iteration; without it, or if it is not known, the newest one
 */
export function shownPrompt(
  events: readonly RunEvent[],
  t: Translate,
  wanted?: number,
): ShownPrompt | undefined {
  const all = prompts(events);
  const found = all.findLastIndex(started => started.iteration === wanted);
  const index = found === -1 ? all.length - 1 : found;
  const started = all[index];
  if (started === undefined) {
    return undefined;
  }
  const { code = [], iteration, promptSections = [], promptBytes } = started;
  const total = promptSections.reduce((sum, { tokens }) => sum + tokens, 0);
  return {
    iteration,
    earlier: all[index - 1]?.iteration,
    later: all[index + 1]?.iteration,
    words:
      promptSections.length === 0
        ? t('Iteration {0}: {1} bytes.', iteration, wholeNumber(promptBytes, t))
        : t(
            'Iteration {0}: about {1} tokens in {2} sections.',
            iteration,
            wholeNumber(total, t),
            promptSections.length,
          ),
    sections: promptSections.slice(0, MAX_SECTIONS).map(section => shownSection(section, total, t)),
    named: code.length > 0 ? namedFiles(code, t) : undefined,
  };
}

/** The first files that the prompt named, with the reasons. */
function namedFiles(code: NonNullable<Started['code']>, t: Translate): string {
  const first = code
    .slice(0, MAX_NAMED)
    .map(({ path, reason }) => `${shorten(path, MAX_PATH)} (${reasonTitle(reason, t)})`)
    .join(', ');
  const more = code.length - MAX_NAMED;
  return more > 0
    ? t('It named {0}, and {1} more.', first, wholeNumber(more, t))
    : t('It named {0}.', first);
}

/** A newer loop may have reasons that are unknown here. */
function reasonTitle(reason: string, t: Translate): string {
  const titles: Readonly<Record<string, string>> = {
    pinned: t('pinned'),
    pin: t('listed in the Pin'),
    named: t('named in the story'),
    words: t('same words'),
    path: t('similar path'),
    definition: t('defines such names'),
    history: t('similar commits'),
    kind: t('same kind of commit'),
    lately: t('changed often lately'),
    partner: t('matching name'),
  };
  return Object.hasOwn(titles, reason) ? (titles[reason] ?? '') : shorten(reason, MAX_NAME);
}

function shownSection(
  { name, tokens }: PromptSections[number],
  total: number,
  t: Translate,
): ShownSection {
  const budget = Object.hasOwn(PROMPT_BUDGET, name)
    ? PROMPT_BUDGET[name as keyof typeof PROMPT_BUDGET]
    : undefined;
  return {
    title: sectionTitle(name, t),
    tokens,
    tokenWords: wholeNumber(tokens, t),
    share: percent(total === 0 ? 0 : tokens / total, t),
    budget: budget !== undefined ? t('at most {0}', wholeNumber(budget, t)) : undefined,
  };
}

/** A newer loop may have sections that are unknown here. */
function sectionTitle(name: string, t: Translate): string {
  const titles: Readonly<Record<string, string>> = {
    heading: t('Heading'),
    task: t('Task'),
    warnings: t('Warnings'),
    failedCheck: t('Failed check'),
    review: t("Reviewer's objections"),
    hints: t('Your hints'),
    answers: t('Your answers'),
    story: t('Story'),
    code: t('Where to look'),
    state: t('Stories, commits, patterns'),
    mission: t('Next steps'),
    rules: t('Rules'),
    template: t('Your own template'),
  };
  return Object.hasOwn(titles, name) ? (titles[name] ?? '') : shorten(name, MAX_NAME);
}

/**
 * The line in which a section of a prompt starts, from 1. Our sections are found by their headings; the text of the
 * person's own template between them is located by its length, so the result may be one line off. Pure.
 * @param index of the section, in the prompt's order
 */
export function sectionLine(prompt: string, sections: PromptSections, index: number): number {
  let at = 0;
  let from = 0;
  for (const { name, tokens } of sections.slice(0, index + 1)) {
    const heading = HEADINGS[name];
    const found = heading === undefined ? -1 : headingAt(prompt, heading, at);
    from = found === -1 ? at : found;
    at = from + lengthOf(prompt.slice(from), tokens);
  }
  const start = from + (/^\s*/.exec(prompt.slice(from))?.[0].length ?? 0);
  return prompt.slice(0, start).split('\n').length;
}

/** A heading is at the start of a line; the estimated length of the text before it may be slightly too large. */
function headingAt(prompt: string, heading: string, from: number): number {
  const after = Math.max(0, from - heading.length);
  if (prompt.startsWith(heading, after) && (after === 0 || prompt[after - 1] === '\n')) {
    return after;
  }
  const found = prompt.indexOf(`\n${heading}`, Math.max(0, after - 1));
  return found === -1 ? -1 : found + 1;
}

/** Number of UTF-16 units at the start of a text that make up this many tokens. */
function lengthOf(text: string, tokens: number): number {
  let low = 0;
  let high = Math.min(text.length, Math.ceil((tokens + 1) * MAX_UNITS_PER_TOKEN));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= tokens) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
