import { shorten } from '../../base/text.ts';
import { type Discovery, discoveryId, MAX_TITLE } from '../journal/discoveries.ts';
import type { RunEventBody } from '../journal/events.ts';
import { titleKey } from '../stories/edit/newStory.ts';
import type { Story } from '../stories/story.ts';
import { withoutQuotations } from './signals.ts';

/** Maximum number of one iteration. */
export const MAX_PER_ITERATION = 5;
const MAX_WHY = 400;
/** Longer answers are cut: an agent that reports work does so in a few lines. */
const MAX_ANSWER = 256 * 1024;
/** The text may be wrapped, up to an empty line, an item of a list or another tag. */
const TAG =
  '<discovered>((?:(?!</?discovered>|\\n[\\t ]*(?:\\n|<(?!/discovered>)|[-*+][\\t ])).)+)</discovered>';
const ONE = new RegExp(TAG, 'gs');
/**
 * Nothing else is on the lines of one or several, but for the mark of an item, and marks of bold text or punctuation
 * around each.
 */
const LINES = new RegExp(
  `^[\\t ]{0,8}(?:(?:[-*+]|\\d{1,3}[.)])[\\t ]{1,4})?(?:(?:\\*\\*|__)?${TAG}(?:\\*\\*|__)?[.,;]?[\\t ]*)+$`,
  'gms',
);

/** New work that an agent has found. */
export interface FoundWork {
  readonly title: string;
  readonly why?: string;
}

/**
 * Reads `<discovered>title | why</discovered>` in an agent's final answer, each on lines of its own or after another one.
 * One in a code block, in backticks or in a quotation only mentions the tag. Pure.
 */
export function readFoundWork(answer: string): readonly FoundWork[] {
  const found: FoundWork[] = [];
  const lines = withoutQuotations(answer.slice(-MAX_ANSWER)).matchAll(LINES);
  const tags = [...lines].flatMap(([text]) => [...text.matchAll(ONE)]);
  for (const [, content = ''] of tags) {
    const [first = '', ...rest] = content.split('|');
    const [title, why] = [shorten(first, MAX_TITLE), shorten(rest.join('|'), MAX_WHY)];
    if (title !== '') {
      found.push({ title, ...(why !== '' && { why }) });
    }
  }
  return found;
}

/** What is known when an answer is read. */
export interface FoundDuring {
  readonly runId: string;
  readonly iteration: number;
  readonly storyId?: string | undefined;
  /** What is one already is not reported again. */
  readonly stories: readonly Pick<Story, 'id' | 'title'>[];
  /** What was reported before. */
  readonly discoveries: readonly Discovery[] | undefined;
}

/** The events for the work that an answer reports: only what is new, and at most a few. Pure. */
export function reportedIn(answer: string, during: FoundDuring): RunEventBody[] {
  const { discoveries = [], iteration, runId, stories, storyId } = during;
  const known = new Set([
    ...stories.map(titleKey),
    ...discoveries.map(({ title = '' }) => titleKey({ title })),
  ]);
  const events: RunEventBody[] = [];
  let count = discoveries.filter(other => other.iteration === iteration).length;
  for (const { title, why } of readFoundWork(answer)) {
    if (count >= MAX_PER_ITERATION) {
      break;
    }
    if (known.has(titleKey({ title }))) {
      continue;
    }
    known.add(titleKey({ title }));
    count++;
    events.push({
      type: 'discovery.reported',
      id: discoveryId(runId, iteration, count),
      iteration,
      title,
      ...(why !== undefined && { why }),
      ...(storyId !== undefined && { storyId }),
    });
  }
  return events;
}
