import { openStories, type Step } from './ralph.ts';

/** A check that is green when there is a file of this name. */
export const needs = (file: string): string => `test -f ${file}`;

/** What a reviewer answers. */
export function verdict(approved: boolean, objections: readonly string[]): Step {
  const criteria = [{ criterion: 'It works', met: approved, evidence: 'US-001.txt' }];
  return {
    result: ['Reviewed.', { structured_output: { approved, objections, criteria } }],
  };
}

/** A call that the API has refused. */
export function failed(status: number, text: string): Step {
  return { result: [text, { is_error: true, api_error_status: status, total_cost_usd: 0 }] };
}

/** An agent that does nothing. */
export const idle: readonly Step[] = [
  { text: 'I have looked around.' },
  { result: ['Nothing done.'] },
];

/** An agent that asks for a person. */
export const asks: readonly Step[] = [
  { result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] },
];

/** A commit that finishes no story. */
export const wroteSome: readonly Step[] = [
  { write: ['notes.txt', 'A beginning.\n'] },
  { commit: 'wip: a beginning' },
  { result: ['More is to be done.'] },
];

/** Does a story with two commits, for another cost than the usual one. */
export function claims(storyId: string, total_cost_usd: number): readonly Step[] {
  return [
    { write: [`${storyId}.txt`, 'One.\n'] },
    { commit: `test: ${storyId}` },
    { tick: storyId },
    { commit: `feat: ${storyId}` },
    { result: [`${storyId} is done.`, { total_cost_usd }] },
  ];
}

/** What the planning agent answers. */
export function planned(stories: number): Step {
  const plan = {
    ...{ project: 'Planned', branchName: 'ralph/planned', description: 'What was asked' },
    userStories: openStories(stories),
  };
  return { result: [`\`\`\`json\n${JSON.stringify(plan)}\n\`\`\``, { total_cost_usd: 2 }] };
}

/** Tells who pays, behind what the fake agent has told. */
export function initWith(apiKeySource: string): Step {
  return {
    event: {
      ...{ type: 'system', subtype: 'init', session_id: 'paid', model: 'fake-model' },
      ...{ claude_code_version: '0.0.0', apiKeySource },
    },
  };
}

/** What the model has said and used, before anybody has added up its cost. */
export function said(text: string): Step {
  return {
    event: {
      type: 'assistant',
      message: {
        ...{ id: 'message', model: 'claude-opus-4-5', content: [{ type: 'text', text }] },
        usage: { input_tokens: 20_000, output_tokens: 16_000 },
      },
    },
  };
}

/** The account's limit is reached, and when it ends is known. */
export const limitKnown: readonly Step[] = [
  {
    event: {
      type: 'rate_limit_event',
      rate_limit_info: {
        ...{ status: 'rejected', rateLimitType: 'five_hour' },
        resetsAt: Math.round(Date.now() / 1_000) + 7_500,
      },
    },
  },
  failed(429, 'You have hit your session limit'),
];

/** A tool is called; what it gives back may come later. */
export function callOfTool(id: string, name: string, input: Record<string, string>): Step {
  return {
    event: { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input }] } },
  };
}

/** What it gives back. */
export function resultOfTool(id: string, content: string, is_error = false): Step {
  const block = { type: 'tool_result', tool_use_id: id, content, is_error };
  return { event: { type: 'user', message: { role: 'user', content: [block] } } };
}
