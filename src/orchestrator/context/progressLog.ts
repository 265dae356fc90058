/** What earlier iterations wrote down for later ones. */
export interface ProgressLog {
  /** Bullets under `## Codebase Patterns`. */
  readonly patterns: readonly string[];
  /** Bullets of learnings, oldest first. */
  readonly learnings: readonly string[];
}

const PATTERNS_HEADING = /^#{1,4}\s+(codebase\s+)?patterns\b/i;
const LEARNINGS_HEADING =
  /^\s*(?:#{1,6}\s+|[-*]\s+)?\**\s*(?:learnings|lessons|notes for (?:future|next) iterations?)\b[^\n]*$/i;
/** Nobody reads more of a line, and no pattern below is slow for so little. */
const MAX_LINE = 2_000;
const BULLET = /^(\s*)[-*+]\s+(?!\[[ xX]\]\s*$)(.+)$/;

/**
 * Reads `progress.txt` in the styles found in the wild: dated headings with and without brackets, hyphen
 * or em dash, `**Learnings for future iterations:**`, `## Iteration N - …`. Entries without a learnings
 * part give their own bullets, so that nothing an agent wrote down is lost to the next one.
 */
export function parseProgressLog(text: string): ProgressLog {
  const patterns: string[] = [];
  const learnings: string[] = [];
  let section: 'none' | 'patterns' | 'entry' | 'learnings' = 'none';
  let entry: string[] = [];
  let entryLearnings: string[] = [];
  let learningsIndent = -1;
  const closeEntry = () => {
    learnings.push(...(entryLearnings.length > 0 ? entryLearnings : entry));
    entry = [];
    entryLearnings = [];
  };
  for (const whole of text.split(/\r?\n/)) {
    const line = whole.slice(0, MAX_LINE);
    if (PATTERNS_HEADING.test(line)) {
      closeEntry();
      section = 'patterns';
      continue;
    }
    if (section !== 'patterns' && LEARNINGS_HEADING.test(line)) {
      section = 'learnings';
      learningsIndent = /^\s*[-*]\s/.test(line) ? line.search(/\S/) : -1;
      const [, inline] = /:\**\s*(\S.*)$/.exec(line) ?? [];
      if (inline !== undefined && !/^\*+$/.test(inline)) {
        entryLearnings.push(clean(inline));
      }
      continue;
    }
    if (/^(#{1,4}\s|---+\s*$|\[\d{4}-\d\d-\d\d)/.test(line)) {
      closeEntry();
      section = 'entry';
      continue;
    }
    const [, indent, bullet] = BULLET.exec(line) ?? [];
    if (bullet === undefined || indent === undefined) {
      continue;
    }
    if (section === 'learnings' && learningsIndent >= 0 && indent.length <= learningsIndent) {
      // The learnings were a nested list, and this bullet is its parent's next sibling.
      section = 'entry';
    }
    if (section === 'patterns') {
      patterns.push(clean(bullet));
    } else if (section === 'learnings') {
      entryLearnings.push(clean(bullet));
    } else {
      entry.push(clean(bullet));
    }
  }
  closeEntry();
  return { patterns, learnings };
}

function clean(text: string): string {
  return text.replaceAll('**', '').trim();
}
