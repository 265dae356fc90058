/** What an agent's final answer says about its task. It is a claim; files and checks decide. */
export type Signal =
  | { readonly kind: 'complete'; readonly message: string }
  | { readonly kind: 'needsHuman'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string };

/** Accepted beside the configured phrase: the signals of the documents this product is built from. */
const COMPLETE_PHRASES = ['TASK_COMPLETE', 'COMPLETE', 'RALPH_COMPLETE', 'TASK COMPLETED'];

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
  for (const match of spoken.matchAll(/<promise>([^<>]{0,2000})<\/promise>/g)) {
    const lineStart = spoken.lastIndexOf('\n', match.index) + 1;
    const before = spoken.slice(lineStart, match.index);
    const end = match.index + match[0].length;
    const lineEnd = spoken.indexOf('\n', end);
    const after = spoken.slice(end, lineEnd === -1 ? spoken.length : lineEnd);
    const aloneOnLine = isDecoration(before) && isDecoration(after);
    const endsTheAnswer = isDecoration(spoken.slice(end)) && /(^|[.!?:)\]*_]\s*)$/.test(before);
    if (aloneOnLine || endsTheAnswer) {
      signal = toSignal((match[1] ?? '').trim(), phrase) ?? signal;
    }
  }
  return signal;
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

function withoutQuotations(text: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined && mark !== undefined) {
      fence = mark;
      lines.push('');
    } else if (fence !== undefined) {
      if (mark?.startsWith(fence)) {
        fence = undefined;
      }
      lines.push('');
    } else {
      lines.push(/^\s*>/.test(line) ? '' : line.replace(/(`+)(?!`).*?\1/g, ' code '));
    }
  }
  return lines.join('\n');
}

/** Emphasis, full stops, ticks: what agents put around the tag without saying anything. */
function isDecoration(text: string): boolean {
  return !/[\p{L}\p{N}"'“”‘’`<>]/u.test(text);
}
