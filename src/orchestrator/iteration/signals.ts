import { fenceAfter } from '../../base/codeFence.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';

/** The claim in an agent's final answer about its task; files and checks decide. */
export type Signal =
  | { readonly kind: 'complete'; readonly message: string }
  | { readonly kind: 'needsHuman'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string };

/** Accepted in addition to the configured phrase: the signals of the documents that this product is based on. */
const COMPLETE_PHRASES = ['TASK_COMPLETE', 'COMPLETE', 'RALPH_COMPLETE', 'TASK COMPLETED'];

const OPEN = '<promise>';
const CLOSE = '</promise>';

/**
 * Reads the signal in an agent's final answer: the last `<promise>…</promise>` on a line of its own or at the end
 * of the answer. A tag in a code block, in backticks, in quotes or in the middle of a sentence only mentions the
 * signal.
 *
 * @param text only the agent's final result, not its other output
 * @param phrase the configured completion phrase
 */
export function readSignal(text: string, phrase: string): Signal | undefined {
  const spoken = withoutQuotations(text).trimEnd();
  let signal: Signal | undefined;
  for (const { lineStart, start } of candidates(spoken)) {
    const close = spoken.indexOf(CLOSE, start);
    if (close === -1) {
      break;
    }
    const end = close + CLOSE.length;
    const before = spoken.slice(lineStart, start);
    const lineEnd = spoken.indexOf('\n', end);
    const after = spoken.slice(end, lineEnd === -1 ? spoken.length : lineEnd);
    const isAlone = isDecoration(before) && isDecoration(after);
    const endsTheAnswer = isDecoration(spoken.slice(end)) && /[.!?:)\]*_]\s*$/.test(before);
    if (isAlone || (endsTheAnswer && !before.includes('`'))) {
      const content = spoken.slice(start + OPEN.length, close).trim();
      signal = toSignal(content, phrase) ?? signal;
    }
  }
  return signal ?? blockedLine(spoken);
}

/** Agents with a template of the person may state a block as their last line, without the tag. */
function blockedLine(spoken: string): Signal | undefined {
  const line = spoken.slice(spoken.lastIndexOf('\n') + 1);
  const [, message] =
    /^[*_\s]{0,9}TASK BLOCKED[*_]{0,3}:[*_\s]{0,9}([^*_\s<>][^<>]*)$/.exec(line) ?? [];
  return message === undefined
    ? undefined
    : { kind: 'blocked', message: message.replace(/[*_]{1,3}$/, '').trim() };
}

/** The signal in the agent's final answer; none for a failed call. */
export function signalOf(result: AgentCallResult | undefined, phrase: string): Signal | undefined {
  const answer = result?.end.result;
  return answer && !answer.isError && result.error === undefined
    ? readSignal(answer.text, phrase)
    : undefined;
}

/** The first tag of each line, which may be alone on it, and the very last one, which may end the answer. */
function candidates(text: string): { lineStart: number; start: number }[] {
  const found: { lineStart: number; start: number }[] = [];
  for (let start = text.indexOf(OPEN); start !== -1; ) {
    found.push({ lineStart: text.lastIndexOf('\n', start) + 1, start });
    const lineEnd = text.indexOf('\n', start);
    start = lineEnd === -1 ? -1 : text.indexOf(OPEN, lineEnd);
  }
  const last = text.lastIndexOf(OPEN);
  if (last !== -1 && found.at(-1)?.start !== last) {
    found.push({ lineStart: text.lastIndexOf('\n', last) + 1, start: last });
  }
  return found;
}

function toSignal(content: string, phrase: string): Signal | undefined {
  const [, needsHuman] = /^NEEDS_HUMAN\b:?\s*(.*)$/s.exec(content) ?? [];
  if (needsHuman !== undefined) {
    return { kind: 'needsHuman', message: needsHuman };
  }
  const [, blocked] = /^TASK BLOCKED\b:?\s*(.*)$/s.exec(content) ?? [];
  if (blocked !== undefined) {
    return { kind: 'blocked', message: blocked };
  }
  for (const complete of [phrase, ...COMPLETE_PHRASES]) {
    if (content === complete) {
      return { kind: 'complete', message: '' };
    }
    if (content.startsWith(`${complete}:`)) {
      return { kind: 'complete', message: content.slice(complete.length + 1).trim() };
    }
  }
  return undefined;
}

/** Empties the lines of code blocks and block quotes. */
export function withoutQuotations(text: string): string {
  let fence: string | undefined;
  return text
    .split(/\r?\n/)
    .map(line => {
      const before = fence;
      fence = fenceAfter(line.trimStart(), fence);
      if (before !== undefined || fence !== undefined) {
        return '';
      }
      return /^\s{0,40}>/.test(line) ? '' : line;
    })
    .join('\n');
}

/** Emphasis, periods, backticks: characters that agents put around the tag without a meaning. */
function isDecoration(text: string): boolean {
  return !/[\p{L}\p{N}"'\u201c\u201d\u2018\u2019`<>]/u.test(text);
}
