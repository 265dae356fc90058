import { shorten } from '../../../base/text.ts';
import type { CodePointer, CodePointers } from '../../context/codePointers.ts';
import type { Reason } from '../../context/ranking.ts';
import { commandText, pathText } from './foreignText.ts';
import { bullets, section } from './promptLists.ts';
import { estimateTokens, shortenToTokens } from './tokens.ts';

/** Where to look in the code, and what of it fits. */
export interface CodeSection {
  /** With its heading; '' if there is nothing to tell. */
  readonly text: string;
  /** The files that it names. */
  readonly files: readonly CodePointer[];
}

/** Why a file is in the list, in up to three words. */
export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  pinned: 'chosen by person',
  pin: 'listed in Pin',
  named: 'named in story',
  words: 'same words inside',
  path: 'similar path',
  definition: 'defines such names',
  history: 'similar past changes',
  kind: 'same commit type',
  lately: 'changed often lately',
  partner: 'matching file name',
};

const INTRODUCTION =
  'Files that probably matter for your work, best first, each with the reason. They were found by words, names and history, so they may be wrong, and others may be missing.';
/** Of the section's tokens, for its commits. */
const COMMITS_SHARE = 0.15;
/** A commit's subject, in tokens. */
const SUBJECT = 40;

/**
 * The section that leads an agent to the code. Pure.
 * @param tokens the most it may have, as estimated by `tokens.ts`
 */
export function codeSection(pointers: CodePointers, tokens: number): CodeSection {
  const nothing = { text: '', files: [] };
  if (pointers.files.length === 0) {
    return nothing;
  }
  let left = tokens - estimateTokens(section('Where to Look', `${INTRODUCTION}\n`)) - 2;
  const commits: string[] = [];
  let forCommits = Math.floor(left * COMMITS_SHARE);
  for (const { hash, subject } of pointers.commits) {
    const line = `${shorten(hash, 10).replace('…', '')} ${shortenToTokens(subject, SUBJECT)}`;
    const size = estimateTokens(line) + 3;
    if (size > forCommits) {
      break;
    }
    forCommits -= size;
    left -= size;
    commits.push(line);
  }
  const history =
    commits.length === 0
      ? ''
      : `\n\nEarlier commits about something similar (\`git show\` tells how they did it):\n${bullets(commits)}`;
  left -= commits.length === 0 ? 0 : 24;
  const lines: string[] = [];
  const files: CodePointer[] = [];
  for (const file of pointers.files) {
    const line = [lineOf(file, file.signatures), lineOf(file, [])].find(
      one => estimateTokens(one) + 3 <= left,
    );
    if (line === undefined) {
      break;
    }
    left -= estimateTokens(line) + 3;
    lines.push(line);
    files.push(file);
  }
  return lines.length === 0
    ? nothing
    : { text: section('Where to Look', `${INTRODUCTION}\n${bullets(lines)}${history}`), files };
}

function lineOf({ path, reason }: CodePointer, signatures: readonly string[]): string {
  const defined = signatures.map(commandText).join(', ');
  return `${commandText(pathText(path))} (${REASON_WORDS[reason]})${defined === '' ? '' : `: ${defined}`}`;
}
