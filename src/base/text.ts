const ELLIPSIS = '…';
/** Nobody sees any of it. */
const INVISIBLE = /^[\s\u2800\p{Default_Ignorable_Code_Point}]*$/u;
const ESC = 0x1b;
const BEL = 0x07;
const CSI = 0x9b;
/** The one-byte forms of the sequences that contain a string: DCS, SOS, OSC, PM, APC. */
const STRING_STARTS: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);

/**
 * Shortens a text to one line of at most `max` UTF-16 units, cut at a word if possible, with a mark. Terminal
 * escape sequences are removed, other control characters become spaces: the text may come from anywhere.
 * @returns empty if nothing of the text could be seen
 */
export function shorten(text: string, max: number): string {
  const line = withoutControls(text.slice(0, enoughFor(max)), ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return INVISIBLE.test(line) ? '' : cutAtWord(line, max, text.length > enoughFor(max));
}

/** Like {@link shorten}, but keeps line breaks and tabs. */
export function shortenBlock(text: string, max: number): string {
  const block = withoutControls(text.slice(0, enoughFor(max))).trim();
  return cutAtWord(block, max, text.length > enoughFor(max));
}

/**
 * Removes terminal escape sequences and control characters, except line breaks and tabs. One pass, so that no input
 * is slow: `util.stripVTControlCharacters` needs minutes for a megabyte of broken sequences.
 * @param instead the replacement for a single control character
 */
export function withoutControls(text: string, instead = ''): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const isControl =
      code < 0x20
        ? code !== 0x0a && code !== 0x09
        : (code >= 0x7f && code <= 0x9f) || isBidiControl(code);
    if (!isControl) {
      at += 1;
      continue;
    }
    kept.push(text.slice(from, at));
    if (code === 0x0d) {
      kept.push('\n');
      from = text.charCodeAt(at + 1) === 0x0a ? at + 2 : at + 1;
    } else {
      from = sequenceEnd(text, at);
      kept.push(from === at + 1 ? instead : '');
    }
    at = from;
  }
  kept.push(text.slice(from));
  return kept.join('');
}

/** Embeddings, overrides and isolates can make a line look different from its content. */
function isBidiControl(code: number): boolean {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/** The end of the escape sequence that starts at `at`; the next character if there is none. */
function sequenceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === CSI) {
    return controlSequenceEnd(text, at + 1);
  }
  if (STRING_STARTS.has(code)) {
    return stringEnd(text, at + 1);
  }
  if (code !== ESC || at + 1 >= text.length) {
    return at + 1;
  }
  const next = text.charAt(at + 1);
  if (next === '[') {
    return controlSequenceEnd(text, at + 2);
  }
  if (']PX^_'.includes(next)) {
    return stringEnd(text, at + 2);
  }
  // Two-character sequences, such as a reset (ESC c); intermediates come before the final character.
  let end = at + 1;
  while (inRange(text, end, 0x20, 0x2f)) {
    end += 1;
  }
  return inRange(text, end, 0x30, 0x7e) ? end + 1 : end;
}

function controlSequenceEnd(text: string, from: number): number {
  let end = from;
  while (inRange(text, end, 0x20, 0x3f)) {
    end += 1;
  }
  return inRange(text, end, 0x40, 0x7e) ? end + 1 : end;
}

/** An unclosed string ends with its line, so that it cannot swallow the rest of the text. */
function stringEnd(text: string, from: number): number {
  for (let end = from; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === BEL || code === 0x9c) {
      return end + 1;
    }
    if (code === ESC) {
      return text.charAt(end + 1) === '\\' ? end + 2 : end;
    }
    if (code === 0x0a || code === 0x0d) {
      return end;
    }
  }
  return text.length;
}

function inRange(text: string, at: number, low: number, high: number): boolean {
  const code = text.charCodeAt(at);
  return code >= low && code <= high;
}

/**
 * Length of a text to examine for `max` units of output; anything after that could only be white space and escapes.
 */
function enoughFor(max: number): number {
  return Math.max(0, max) * 4 + 10_000;
}

function cutAtWord(text: string, max: number, more: boolean): string {
  if (text.length <= max && !more) {
    return text;
  }
  if (max <= ELLIPSIS.length) {
    return ELLIPSIS.slice(0, Math.max(0, max));
  }
  const head = text.slice(0, max - ELLIPSIS.length);
  const space = head.search(/\s\S*$/);
  // A single long word may not have a better place to cut: giving up half of the budget would be too much.
  const cut = space > max / 2 ? head.slice(0, space) : head.replace(/[\uD800-\uDBFF]$/, '');
  return cut + ELLIPSIS;
}

/** Adds a full stop if the text does not end with punctuation. */
export function sentence(text: string): string {
  return text === '' || /[.!?\u2026]$/.test(text) ? text : `${text}.`;
}
