import { shorten, withoutControls } from '../base/text.ts';
import { runGit } from '../orchestrator/git/runGit.ts';
import { type CommitLine, commitLine } from '../orchestrator/git/takenBack.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { print } from './print.ts';
import type { Begin, Landed } from './rollbackBegin.ts';
import { namedStories } from './rollbackTicks.ts';

/** Maximum number of commits that are named. */
const MAX_NAMED = 8;
/** In UTF-16 units. */
const MAX_SUBJECT = 90;

/** What a rollback does to the work on stories. Ids of stories, in the order of the work. */
export interface Effect {
  /** The commits before it. */
  readonly before: CommitLine;
  /** Their work had been taken back, and is there again. */
  readonly restored: readonly string[];
  /** Their work was there until now. */
  readonly takenBack: readonly string[];
  /** Their work is from then or later, and had been taken back: it was not there, and still is not. */
  readonly goneBefore: readonly string[];
  /** What has landed since, as far as it was there until now. */
  readonly landings: readonly string[];
  /** What had landed before, without what is restored. */
  readonly stays: readonly string[];
}

/** An earlier rollback or revert may have taken back a part of it already. @param head before the rollback */
export async function effectOf(
  dir: string,
  states: readonly RunState[],
  { gone, stays, to }: Begin,
  head: string,
): Promise<Effect> {
  const [before, after] = await Promise.all([commitLine(dir, head), commitLine(dir, to)]);
  const isBack = (hash: string) => before.gone.has(hash) && after.standing.has(hash);
  const commits = states.flatMap(state => state.commits);
  const of = (isAsked: (hash: string) => boolean) => [
    ...new Set(commits.flatMap(({ hash, storyId }) => (isAsked(hash) ? (storyId ?? []) : []))),
  ];
  const restored = of(isBack);
  const takenBack = of(hash => before.standing.has(hash) && !after.standing.has(hash));
  const isKnownThen = (hash: string) => after.standing.has(hash) || after.gone.has(hash);
  const moved = [...restored, ...takenBack];
  return {
    before,
    restored,
    takenBack,
    goneBefore: of(hash => before.gone.has(hash) && !isKnownThen(hash)).filter(
      id => !moved.includes(id),
    ),
    landings: storiesOf(gone.filter(({ commit = '' }) => !before.gone.has(commit))),
    stays: storiesOf(stays.filter(({ commit = '' }) => !isBack(commit))),
  };
}

/** What an earlier rollback or revert had taken back, and is there again. */
export function tellOfRestored(
  { isIsolated }: Begin,
  { restored, takenBack }: Effect,
  isDryRun: boolean,
): void {
  if (restored.length > 0) {
    const back = isDryRun ? 'Would be restored' : 'Restored';
    const gone = isDryRun ? 'Would be taken back' : 'Taken back';
    // With lanes, what is taken back is listed with its order.
    const also = isIsolated ? '' : ` ${gone}: ${namedStories(takenBack)}.`;
    print(`${back}: ${namedStories(restored)}.${also}`);
  }
}

/** What an earlier rollback or revert had taken back is otherwise missing in the lists. */
export function tellOfGoneBefore({ goneBefore }: Effect): void {
  if (goneBefore.length > 0) {
    print(`Taken back before already, which this does not change: ${namedStories(goneBefore)}.`);
  }
}

/** With lanes, the numbers of iterations do not say what came before and after. */
export function tellOfLandings(
  { gone, isIsolated }: Begin,
  { landings, stays }: Effect,
  iteration: number,
  isDryRun: boolean,
): void {
  if (!isIsolated) {
    return;
  }
  const hasLanded = gone[0]?.iteration === iteration;
  const before = hasLanded
    ? `the work of iteration ${iteration} landed`
    : `iteration ${iteration} began, whose work has not landed`;
  print(
    `Several agents may have worked at once, so this is the state from before ${before}. ${isDryRun ? 'Would be taken' : 'Taken'} back, in the order in which it had landed: ${namedStories(landings)}. Landed before, and kept: ${namedStories(stays)}.`,
  );
}

/** A commit that is taken back and that a person has made. */
export interface OtherCommit {
  readonly hash: string;
  readonly subject: string;
}

/**
 * Commits of people between those of the agents are taken back as well. What our own `revert` and `rollback` did is
 * told by its effect on the stories.
 * @param states of all runs: what they have recorded is the agents' work
 * @param head before the rollback
 */
export async function otherCommits(
  { workspace }: RunFiles,
  states: readonly RunState[],
  { to }: Begin,
  { before, head }: { readonly before: CommitLine; readonly head: string },
): Promise<OtherCommit[]> {
  const recorded = new Set(states.flatMap(({ commits }) => commits.map(({ hash }) => hash)));
  const format = '--format=%H%x00%s%x00%(trailers:key=Ralph-Story,valueonly)%x01';
  const output = await runGit(workspace, 'log', '--first-parent', format, `${to}..${head}`);
  return output.split('\x01').flatMap(entry => {
    const [hash = '', subject = '', story = ''] = entry.trim().split('\0');
    const isKnown = recorded.has(hash) || before.gone.has(hash) || before.undoing.has(hash);
    const isOther = story.trim() === '' && !isKnown;
    return hash !== '' && isOther ? [{ hash, subject }] : [];
  });
}

export function tellOfOtherCommits(others: readonly OtherCommit[], isDryRun: boolean): void {
  const more = others.length - MAX_NAMED;
  const named = others
    .slice(0, MAX_NAMED)
    .map(
      ({ hash, subject }) =>
        `  ${hash.slice(0, 7)} ${shorten(withoutControls(subject), MAX_SUBJECT)}`,
    );
  if (others.length > 0) {
    print(
      [
        `Other commits on the branch since then ${isDryRun ? 'would be' : 'are'} taken back, too:`,
        ...named,
        ...(more > 0 ? [`  and ${more} more`] : []),
      ].join('\n'),
    );
  }
}

function storiesOf(landed: readonly Landed[]): string[] {
  return [...new Set(landed.map(({ storyId }) => storyId))];
}
