import { titleNextTo } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import { reasonWords } from '../../presentation/iterationWords.ts';
import { compact, dollars, type Translate, wholeNumber } from '../../presentation/translate.ts';
import type { IterationProofs } from './iterationProofs.ts';
import type {
  Glyph,
  IterationDocument,
  ShownIteration,
  ShownProof,
  ShownStory,
  ShownTimeline,
} from './protocol.ts';

/** Otherwise a run of a thousand iterations would be sent and compared in full with every line of its agent. */
const PAGE_SIZE = 100;
const MAX_COMMITS = 5;
const MAX_CHECKS = 6;
const MAX_ID = 60;
const MAX_TITLE = 140;
const MAX_SUBJECT = 100;
const MAX_COMMAND = 80;
const MAX_REASON = 300;

/**
 * One page of a run's iterations, the newest first. Pure.
 * @param rows all of them, oldest first
 * @param page 0 has the newest; a number that is too high gives the last page
 */
export function shownTimeline(
  rows: readonly IterationRow[],
  proofs: ReadonlyMap<number, IterationProofs>,
  page: number,
  t: Translate,
): ShownTimeline {
  const last = Math.max(0, Math.ceil(rows.length / PAGE_SIZE) - 1);
  const at = Math.min(page, last);
  const end = rows.length - at * PAGE_SIZE;
  const shown = rows.slice(Math.max(0, end - PAGE_SIZE), end).reverse();
  return {
    iterations: shown.map(row => shownIteration(row, proofs.get(row.number), t)),
    words:
      last > 0
        ? t(
            'Iterations {0} to {1} of {2}',
            shown.at(-1)?.number ?? 0,
            shown[0]?.number ?? 0,
            wholeNumber(rows.length, t),
          )
        : undefined,
    newer: at > 0 ? at - 1 : undefined,
    older: at < last ? at + 1 : undefined,
  };
}

function shownIteration(
  row: IterationRow,
  proofs: IterationProofs | undefined,
  t: Translate,
): ShownIteration {
  const story = shownStory(row.storyId, row.storyTitle);
  const reason = row.reason && reasonWords(row.reason, t);
  const more = row.commits.length - MAX_COMMITS;
  const { costEstimated = false, tokens } = proofs ?? {};
  return {
    number: row.number,
    ...rowWords(row, t),
    reason: reason !== undefined ? shorten(reason, MAX_REASON) : undefined,
    story,
    ...(row.outcome === 'running'
      ? { time: { since: row.startedAt } }
      : row.durationMs !== undefined && { time: { ms: row.durationMs } }),
    tokens: tokens !== undefined ? t('{0} tokens', compact(tokens, t)) : undefined,
    cost: row.costUsd !== undefined ? dollars(row.costUsd, t, costEstimated) : undefined,
    proofs: proofs ? shownProofs(proofs, row.outcome === 'running', t) : [],
    commits: row.commits.slice(0, MAX_COMMITS).map(({ hash, subject }) => ({
      hash,
      shortHash: hash.slice(0, 7),
      subject: shorten(subject, MAX_SUBJECT),
    })),
    moreCommits: more > 0 ? t('and {0} more', more) : undefined,
    documents: documents(row, proofs),
  };
}

function shownProofs(
  { checks, approved }: IterationProofs,
  isRunning: boolean,
  t: Translate,
): readonly ShownProof[] {
  const shown = checks.slice(-MAX_CHECKS).map(({ command, ended }): ShownProof => {
    const common = { name: shorten(command, MAX_COMMAND), isCommand: true };
    if (ended === undefined) {
      return isRunning
        ? { ...common, glyph: 'running', verdict: t('running') }
        : { ...common, glyph: 'interrupted', verdict: t('interrupted') };
    }
    return {
      ...common,
      ...(ended.ok
        ? { glyph: 'done', verdict: t('passed') }
        : { glyph: 'failed', verdict: ended.timedOut ? t('timed out') : t('failed') }),
      ms: ended.ms,
    };
  });
  return approved === undefined
    ? shown
    : [
        ...shown,
        {
          name: t('Reviewer'),
          isCommand: false,
          ...(approved
            ? { glyph: 'done', verdict: t('approved') }
            : { glyph: 'failed', verdict: t('objects') }),
        },
      ];
}

function documents(
  { commits, landing }: IterationRow,
  proofs: IterationProofs | undefined,
): readonly IterationDocument[] {
  return [
    ...(commits.length > 0 || landing ? (['openIterationChanges'] as const) : []),
    'openPrompt',
    ...(proofs?.hasAgent ? (['openTranscript'] as const) : []),
    ...((proofs?.checks.length ?? 0) > 0 ? (['openCheckOutput'] as const) : []),
  ];
}

/** A story as the page shows it; `undefined` without one. */
export function shownStory(
  id: string | undefined,
  title: string | undefined,
): ShownStory | undefined {
  return id === undefined
    ? undefined
    : { id: shorten(id, MAX_ID), title: shorten(titleNextTo(id, title ?? ''), MAX_TITLE) };
}

/** The icon of an iteration, and its words for the start of a line. */
export function rowWords(
  { isLanding, outcome, returned }: IterationRow,
  t: Translate,
): ReturnType<typeof outcomeWords> {
  const words = outcomeWords(outcome, t);
  return outcome === 'running' && isLanding
    ? { ...words, outcome: t('Landing') }
    : outcome === 'rejected' && returned !== undefined
      ? { ...words, outcome: t('Did not land') }
      : words;
}

/** The icon of an outcome, and its words for the start of a line. */
function outcomeWords(
  outcome: IterationRow['outcome'],
  t: Translate,
): { readonly glyph: Glyph; readonly outcome: string } {
  const looks: Readonly<Record<IterationRow['outcome'], readonly [Glyph, string]>> = {
    running: ['running', t('Running')],
    storyDone: ['done', t('Story done')],
    rejected: ['failed', t('Claim refused')],
    progress: ['progress', t('Progress')],
    noProgress: ['noProgress', t('No progress')],
    failed: ['failed', t('Failed')],
    blocked: ['blocked', t('Blocked')],
    needsHuman: ['needsYou', t('Needs you')],
    skipped: ['stopped', t('Skipped')],
    stopped: ['stopped', t('Stopped')],
    interrupted: ['interrupted', t('Interrupted')],
  };
  const [glyph, words] = looks[outcome];
  return { glyph, outcome: words };
}
