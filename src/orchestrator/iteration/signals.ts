import { fenceAfter } from '../../base/codeFence.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';

/** What an agent's final answer says about its task. It is a claim; files and checks decide. */
export type Signal =
  | { readonly kind: 'complete'; readonly message: string }
  | { readonly kind: 'needsHuman'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string };

/** Accepted beside the configured phrase: the signals of the documents this product is built from. */
const COMPLETE_PHRASES = ['TASK_COMPLETE', 'COMPLETE', 'RALPH_COMPLETE', 'TASK COMPLETED'];

const OPEN = '<promise>';
const CLOSE = '</promise>';

/**
 * Reads the signal of an agent's final answer: the last `<promise>…</promise>` that stands on a line of
 * its own or ends the answer. A tag in a code block, in back-ticks, in quotes or in the middle of a
 * sentence is talk about the signal, not the signal.
 *
 * @param text the agent's final result, and nothing else of its output
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
  return signal;
}

/** The promise of the agent's final answer; a failed call gives none. */
export function signalOf(result: AgentCallResult | undefined, phrase: string): Signal | undefined {
  const answer = result?.end.result;
  return answer && !answer.isError && result.error === undefined
    ? readSignal(answer.text, phrase)
    : undefined;
}

/** The first tag of each line, which alone can stand by itself, and the last of all, which can end the answer. */
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

/** Leaves out code blocks and block quotes; their lines stay, empty. */
function withoutQuotations(text: string): string {
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

/** Emphasis, full stops, ticks: what agents put around the tag without saying anything. */
function isDecoration(text: string): boolean {
  return !/[\p{L}\p{N}"'“”‘’`<>]/u.test(text);
}
