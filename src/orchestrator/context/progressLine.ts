import { MAX_HEADING } from './progressEntry.ts';

const PATTERNS_NAME =
  /^(?:(?:codebase|code|project|general|reusable|discovered|consolidated|key|important|common|useful)\s+){0,2}patterns\b/i;
const LEARNINGS_NAME =
  /^(?:(?:key|new|recent|important|main)\s+)?(?:learn(?:ings?|ed)|lessons?|gotchas?|insights?|(?:notes?|tips|advice)\s+(?:for|to)\s+(?:the\s+)?(?:future|next|later)|next\s+(?:developer|iteration|agent|session)s?\s+notes?|what\s+(?:i|we|was)\s+learn(?:ed|t))\b/i;
/** Names that are clear without a colon or bold text. */
const BARE_LEARNINGS =
  /^(?:(?:key|new)\s+)?(?:learnings|lessons(?:\s+learned)?|(?:learnings|lessons|notes)\s+for\s+(?:the\s+)?(?:future|next|later)\s+\w+)$/i;
const PLACEHOLDER =
  /^[\W_]*(?:(?:none|nothing|n\/a|tbd|todo|empty|to be (?:added|filled|discovered)|no (?:\w+ ){0,2}(?:patterns?|learnings?|lessons?|entries|notes))(?: (?:yet|so far|new|notable|special|found|discovered|recorded|added|here|in|for|this|iteration|story)){0,4}|yyyy-mm-dd\b.*)[\W_]*$/iu;

/** A line of the log. */
export interface Line {
  /** Width before the text; a tab counts as four columns. */
  readonly indent: number;
  readonly text: string;
}

/** Whether a section with this name contains patterns. */
export function isPatterns(name: string): boolean {
  return PATTERNS_NAME.test(withoutDecoration(name));
}

/** Whether a section with this name contains learnings. */
export function isLearnings(name: string): boolean {
  return LEARNINGS_NAME.test(withoutDecoration(name));
}

/** Whether a section with this name contains what a compaction has left of older entries. */
export function isCompacted(name: string): boolean {
  return /^compacted history\b/i.test(name);
}

function withoutDecoration(name: string): string {
  return name.replace(/^[^\p{L}\p{N}]+/u, '');
}

/** @returns the line without surrounding white space */
export function toLine(whole: string): Line {
  let indent = 0;
  let at = 0;
  for (; whole[at] === ' ' || whole[at] === '\t'; at += 1) {
    indent += whole[at] === '\t' ? 4 : 1;
  }
  return { indent, text: whole.slice(at).trim() };
}

/** @returns its level and title, if it is a Markdown heading */
export function headingOf({ indent, text }: Line): { level: number; title: string } | undefined {
  const [marks] = /^#{1,6}(?=[ \t])/.exec(text) ?? [];
  return marks === undefined || indent > 3
    ? undefined
    : { level: marks.length, title: clean(text.slice(marks.length).slice(0, MAX_HEADING)) };
}

/** A name at the start of a line that starts a section, like a heading. */
export interface Label {
  readonly name: string;
  /** The rest of the line after the label. */
  readonly inline: string;
}

/** `**Name:** inline`, `**Name**`, `Name: inline`, or just a name for learnings. */
export function labelOf(text: string): Label | undefined {
  const [, bold, behind] =
    /^[^\p{L}\p{N}*_]{0,4}(?:\*\*|__)([^*_]{1,80})(?:\*\*|__)(.*)$/u.exec(text) ?? [];
  if (bold !== undefined && behind !== undefined) {
    const isLabel = /:\s*$/.test(bold) || /^\s*(?::|$)/.test(behind);
    return isLabel
      ? { name: bold.replace(/:\s*$/, '').trim(), inline: behind.replace(/^\s*:/, '').trim() }
      : undefined;
  }
  const [, plain, inline] = /^([^:*]{1,60}):(?=\s|$)(.*)$/.exec(text) ?? [];
  if (plain !== undefined && inline !== undefined) {
    return { name: plain.trim(), inline: inline.trim() };
  }
  return BARE_LEARNINGS.test(text) ? { name: text, inline: '' } : undefined;
}

/** Text without content: `…`, `(none yet)`, `[your learning here]`, an empty check box. */
export function isPlaceholder(text: string): boolean {
  return (
    !/[\p{L}\p{N}]/u.test(text) ||
    /^(?:\[[^\]]*\]|<[^>]*>|\{+[^}]*\}+)$/.test(text) ||
    (text.length <= 120 && PLACEHOLDER.test(text))
  );
}

/** @returns the text without bold markers */
export function clean(text: string): string {
  return text.replaceAll('**', '').trim();
}
