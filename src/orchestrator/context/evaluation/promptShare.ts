import { CodeIndex } from '../codeIndex.ts';
import type { CodePointers } from '../codePointers.ts';
import { storyWords } from '../codeWords.ts';
import { rankedFiles } from '../ranking.ts';
import { definitionsIn, signaturesOf } from '../signatures.ts';
import { symbolsOf } from '../symbols/symbolsOf.ts';
import type { Replay } from './replay.ts';

/** How much of what agents needed would have been in their prompts; shares from 0 to 1, means of all stories. */
export interface PromptShare {
  /** Of the files that a story changed, at most ten of each. */
  readonly found: number;
  /** Of the prompt's section, in tokens. */
  readonly tokens: number;
  /** What a list of the repository's files, cut after as many tokens, has of the same files. */
  readonly listed: number;
}

/** Files of a prompt, and how many of them have signatures; as in `codePointers`. */
const FILES = 40;
const SIGNED = 12;
const NEEDED = 10;

/** Makes the section of a prompt from pointers. */
export type SectionMaker = (pointers: CodePointers) => {
  readonly files: readonly { readonly path: string }[];
  readonly tokens: number;
};

/**
 * What the prompts of the replayed stories would have told.
 * @param tokensOf estimates the tokens of a text
 */
export function promptShare(
  { files, history, stories }: Replay,
  sectionOf: SectionMaker,
  tokensOf: (text: string) => number,
): PromptShare {
  const index = CodeIndex.of(files, history);
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const list = files.map(({ path }) => ({ path, tokens: tokensOf(`- ${path}\n`) }));
  const results = stories.map(({ changed, title }) => {
    const words = storyWords(title);
    const pointers = rankedFiles(index, title, FILES).map(({ path, reason }, i) => ({
      path,
      reason,
      signatures:
        i < SIGNED
          ? signaturesOf(definitionsIn(symbolsOf(path, texts.get(path) ?? '')), words)
          : [],
    }));
    const section = sectionOf({ files: pointers, commits: [] });
    const needed = [...changed].slice(0, NEEDED);
    const share = (paths: ReadonlySet<string>): number =>
      needed.filter(file => paths.has(file)).length / (needed.length || 1);
    return {
      found: share(new Set(section.files.map(({ path }) => path))),
      tokens: section.tokens,
      listed: share(firstOf(list, section.tokens)),
    };
  });
  const mean = (value: (result: PromptShare) => number): number =>
    results.reduce((sum, result) => sum + value(result), 0) / (results.length || 1);
  return {
    found: mean(({ found }) => found),
    tokens: Math.round(mean(({ tokens }) => tokens)),
    listed: mean(({ listed }) => listed),
  };
}

function firstOf(
  list: readonly { readonly path: string; readonly tokens: number }[],
  tokens: number,
): Set<string> {
  const paths = new Set<string>();
  let left = tokens;
  for (const { path, tokens: own } of list) {
    left -= own;
    if (left < 0) {
      break;
    }
    paths.add(path);
  }
  return paths;
}
