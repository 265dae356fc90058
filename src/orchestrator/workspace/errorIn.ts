import { ERROR_DATA_PREFIX, ERROR_PREFIX } from '../../base/errorOutput.ts';
import { sentences, type Words } from '../../base/say.ts';
import { wordsSchema } from '../journal/words.ts';

/** What a command of ours has said before it failed; empty if it said nothing. */
export function errorIn(output: string): Words {
  const lines = output.split(/\r?\n/);
  const at = lines.findLastIndex(line => line.startsWith(ERROR_DATA_PREFIX));
  const error = parse(lines[at]?.slice(ERROR_DATA_PREFIX.length) ?? '');
  if (error === undefined) {
    return withoutPrefix(output);
  }
  const from = lines.slice(0, at).findLastIndex(line => line.startsWith(ERROR_PREFIX));
  // The same error in English is the last thing before it; anything else was said by the runtime, or by git.
  const others = withoutPrefix(lines.slice(0, from === -1 ? at : from).join('\n'));
  return others === '' ? error : sentences([others, error], '\n');
}

function withoutPrefix(output: string): string {
  const text = output.trim();
  return text.startsWith(ERROR_PREFIX) ? text.slice(ERROR_PREFIX.length) : text;
}

function parse(text: string): Words | undefined {
  try {
    return wordsSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
