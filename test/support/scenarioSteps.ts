import { openStories, type Step } from './ralph.ts';

/** A check that passes if a file with this name exists. */
export const needs = (file: string): string => `test -f ${file}`;

/** A reviewer's answer. */
export function verdict(approved: boolean, objections: readonly string[]): Step {
  const criteria = [{ criterion: 'It works', met: approved, evidence: 'US-001.txt' }];
  return {
    result: ['Reviewed.', { structured_output: { approved, objections, criteria } }],
  };
}

/** A call that the API has rejected. */
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

/** Does a story with two commits, at an unusual cost. */
export function claims(storyId: string, total_cost_usd: number): readonly Step[] {
  return [
    { write: [`${storyId}.txt`, 'One.\n'] },
    { commit: `test: ${storyId}` },
    { tick: storyId },
    { commit: `feat: ${storyId}` },
    { result: [`${storyId} is done.`, { total_cost_usd }] },
  ];
}

/** The planning agent's answer. */
export function planned(stories: number): Step {
  const plan = {
    ...{ project: 'Planned', branchName: 'ralph/planned', description: 'What was asked' },
    userStories: openStories(stories),
  };
  return { result: [`\`\`\`json\n${JSON.stringify(plan)}\n\`\`\``, { total_cost_usd: 2 }] };
}

/** Says who pays, after the fake agent's own information. */
export function initWith(apiKeySource: string): Step {
  return {
    event: {
      ...{ type: 'system', subtype: 'init', session_id: 'paid', model: 'fake-model' },
      ...{ claude_code_version: '0.0.0', apiKeySource },
    },
  };
}

/** Text and usage of the model, before the total cost is known. */
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

/** The account's limit is reached, and its end is known. */
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

/** A tool call; its result may come later. */
function callOfTool(id: string, name: string, input: Record<string, string>): Step {
  return {
    event: { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input }] } },
  };
}

/** The result of a tool call. */
function resultOfTool(id: string, content: string, is_error = false): Step {
  const block = { type: 'tool_result', tool_use_id: id, content, is_error };
  return { event: { type: 'user', message: { role: 'user', content: [block] } } };
}

/** Tools that succeed, fail, answer out of order, and print terminal control sequences. */
export const toolCalls: readonly Step[] = [
  callOfTool('edit', 'Edit', { file_path: 'src/todo.js' }),
  resultOfTool('edit', 'ok'),
  callOfTool('think', 'Think', {}),
  resultOfTool('think', 'Thought.'),
  callOfTool('read', 'Read', { file_path: 'src/todo.js' }),
  resultOfTool('read', Array.from({ length: 12 }, (_, n) => `line ${n}`).join('\n')),
  callOfTool('readOne', 'Read', { file_path: 'VERSION' }),
  resultOfTool('readOne', '1.0'),
  callOfTool('test', 'Bash', { command: 'npm test' }),
  resultOfTool('test', ['one', '  two', 'three', ...new Array(37).fill('more')].join('\n')),
  callOfTool('first', 'Bash', { command: 'npm test' }),
  callOfTool('second', 'Grep', { pattern: 'todo' }),
  resultOfTool('second', 'ok'),
  resultOfTool('first', 'ok'),
  resultOfTool('unknown', 'ok'),
  callOfTool('fails', 'Bash', { command: 'cat nothing' }),
  resultOfTool('fails', 'no such file', true),
  callOfTool('failsMore', 'Bash', { command: 'npm test' }),
  resultOfTool('failsMore', 'no\nsuch\nfile\nat\nall', true),
  callOfTool('hostile', 'Bash', { command: 'cat hostile' }),
  resultOfTool('hostile', '\u001b[2J\u001b]8;;file:///etc\u0007x\u202e'),
  { text: '<b>\u001b[31mred</b>\nand more' },
  callOfTool('last', 'Bash', { command: 'npm test' }),
];
