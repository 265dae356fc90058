import { env, l10n, type QuickPickItem, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import type { FileVersion } from '../../orchestrator/git/changes.ts';
import { lineOrigin } from '../../orchestrator/git/lineOrigin.ts';
import type { RecordedCommit, RunState } from '../../orchestrator/journal/runState.ts';
import { RunHistory } from '../../orchestrator/workspace/history.ts';
import { readRun } from '../../orchestrator/workspace/runCheckpoint.ts';
import { newestRunId } from '../../orchestrator/workspace/runIds.ts';
import { plainLabel } from '../common/plainText.ts';
import type { IterationRef, StoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';

const MAX_LABEL = 100;

/** What the runs of the window's folders have recorded, read from their journals on request. */
export class RecordedWork {
  private readonly histories = new WeakMap<Folder, RunHistory>();
  /** Shared, since one diff asks for many files at once. */
  private readonly reading = new WeakMap<Folder, Promise<readonly RunState[]>>();

  /** @returns the states of all runs of a folder, oldest first */
  states(folder: Folder): Promise<readonly RunState[]> {
    const running = this.reading.get(folder);
    if (running !== undefined) {
      return running;
    }
    const reading = this.read(folder).finally(() => this.reading.delete(folder));
    this.reading.set(folder, reading);
    return reading;
  }

  private async read(folder: Folder): Promise<readonly RunState[]> {
    const { files } = folder;
    const newest = await newestRunId(files);
    if (newest === undefined) {
      return [];
    }
    const history = this.histories.get(folder) ?? new RunHistory(files);
    this.histories.set(folder, history);
    const [earlier, state] = await Promise.all([history.read(newest), readRun(files, newest)]);
    return [...earlier, state];
  }

  /** The commit as recorded by a run of the folder. @param hash full hash */
  async commit(folder: Folder, hash: string): Promise<RecordedCommit | undefined> {
    const find = (states: readonly RunState[]) =>
      states.flatMap(({ commits }) => commits).find(commit => commit.hash === hash);
    return find(folder.runs.states) ?? find(await this.states(folder));
  }

  /**
   * The newest commit of a run that wrote one of these lines; if there is none, the newest that changed the file.
   * @param first from 0
   * @param last from 0, inclusive
   */
  async commitOfLines(
    folder: Folder,
    version: FileVersion,
    first: number,
    last: number,
  ): Promise<RecordedCommit | undefined> {
    const [origin, states] = await Promise.all([
      lineOrigin(folder.path, version, first + 1, last + 1),
      this.states(folder),
    ]);
    const recorded = new Map(
      states.flatMap(({ commits }) => commits).map(commit => [commit.hash, commit]),
    );
    const hash = [...origin.lines, ...origin.file].find(hash => recorded.has(hash));
    return hash === undefined ? undefined : recorded.get(hash);
  }

  /**
   * Asks for a story that has commits.
   * @returns `undefined` if the person canceled
   * @throws {HumanError} if no run has made any
   */
  async chooseStory(folder: Folder, placeHolder: string): Promise<StoryRef | undefined> {
    const counts = new Map<string, number>();
    for (const { commits } of await this.states(folder)) {
      for (const { storyId } of commits) {
        if (storyId !== undefined) {
          counts.set(storyId, (counts.get(storyId) ?? 0) + 1);
        }
      }
    }
    await folder.stories.refresh();
    const titles = new Map(folder.stories.list.map(({ id, title }) => [id, title]));
    const items = [...counts].map(([storyId, count]) => ({
      label: plainLabel(storyId, MAX_LABEL),
      description: plainLabel(titles.get(storyId) ?? '', MAX_LABEL),
      detail: commitCount(count),
      ref: { folder: folder.path, storyId },
    }));
    return choose(items, placeHolder);
  }

  /** Like {@link chooseStory}, for an iteration; the newest first. */
  async chooseIteration(folder: Folder, placeHolder: string): Promise<IterationRef | undefined> {
    const items: (QuickPickItem & { readonly ref: IterationRef })[] = [];
    for (const { commits, runId, startedAt } of [...(await this.states(folder))].reverse()) {
      const counts = new Map<number, RecordedCommit[]>();
      for (const commit of commits) {
        counts.set(commit.iteration, [...(counts.get(commit.iteration) ?? []), commit]);
      }
      for (const [iteration, own] of [...counts].reverse()) {
        if (runId !== undefined && iteration > 0) {
          const [{ storyId } = { storyId: undefined }] = own;
          items.push({
            label: l10n.t('Iteration {0}', iteration),
            description: plainLabel(storyId ?? '', MAX_LABEL),
            detail: `${commitCount(own.length)} · ${timeOf(startedAt)}`,
            ref: { folder: folder.path, runId, iteration },
          });
        }
      }
    }
    return choose(items, placeHolder);
  }
}

/** "1 commit", "4 commits". */
export function commitCount(count: number): string {
  return count === 1 ? l10n.t('1 commit') : l10n.t('{0} commits', count);
}

/** "1 file", "12 files". */
export function fileCount(count: number): string {
  return count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count);
}

/** The start time of a run as text; empty if its journal does not contain it. */
export function timeOf(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  return Number.isNaN(date.getTime())
    ? ''
    : date.toLocaleString(env.language, { dateStyle: 'medium', timeStyle: 'short' });
}

async function choose<T>(
  items: readonly (QuickPickItem & { readonly ref: T })[],
  placeHolder: string,
): Promise<T | undefined> {
  if (items.length === 0) {
    throw new HumanError(l10n.t('No run of this folder has made a commit yet.'));
  }
  const choice = await window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return choice?.ref;
}
