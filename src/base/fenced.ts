import { withoutControls } from './text.ts';

/** Text from outside as a code block of Markdown that it cannot close; without control characters. */
export function fenced(text: string, language = 'text'): string {
  const plain = withoutControls(text);
  let longest = 2;
  for (const [run] of plain.matchAll(/`+/g)) {
    longest = Math.max(longest, run.length);
  }
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${plain}${plain.endsWith('\n') ? '' : '\n'}${fence}`;
}
