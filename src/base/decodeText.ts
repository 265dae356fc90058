import { type Message, say } from './say.ts';
/** The text of a file, and the first position that is not UTF-8, if any. */
export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string;
  /** The byte order mark, or ''. */
  readonly bom: string;
  /** `offset` in `text`. */
  readonly problem?: { readonly offset: number; readonly message: Message };
}

const BOM = '\uFEFF';

/** Decodes UTF-8 without losing a byte; never throws. */
export function decodeText(content: string | Uint8Array): DecodedText {
  const { text, problem } = typeof content === 'string' ? { text: content } : decode(content);
  const bom = text.startsWith(BOM) ? BOM : '';
  return {
    text: text.slice(bom.length),
    bom,
    problem: problem ? { ...problem, offset: Math.max(0, problem.offset - bom.length) } : undefined,
  };
}

type Decoded = Pick<DecodedText, 'text' | 'problem'>;

function decode(content: Uint8Array): Decoded {
  const [first, second] = content;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    const message = say('The file is UTF-16 text: save it with the encoding UTF-8.');
    return { text: '', problem: { offset: 0, message } };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    const message = say(
      'The file is not UTF-8 text from here on: save it with the encoding UTF-8.',
    );
    return notUtf8(content, message);
  }
}

/** Decodes as much as possible, and finds the first invalid position. */
function notUtf8(content: Uint8Array, message: Message): Decoded {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
  } catch {
    return {
      text: '',
      problem: { offset: 0, message: say('The file is too large for a story file.') },
    };
  }
  let bytes = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    bytes += Buffer.byteLength(text.slice(from, at));
    from = at;
    // A replacement character that was in the file has these three bytes.
    if (content[bytes] !== 0xef || content[bytes + 1] !== 0xbf || content[bytes + 2] !== 0xbd) {
      return { text, problem: { offset: at, message } };
    }
  }
  return { text, problem: { offset: 0, message } };
}
