import path from 'node:path';
import { exists } from '../../../base/fileKind.ts';
import { HumanError, requireHuman } from '../../../base/humanError.ts';
import { saidOf } from '../../../base/messageOf.ts';
import { type Message, say, sentences } from '../../../base/say.ts';
import type { GithubWhenDone } from '../../settings/config.ts';
import { createStoryFile } from '../../stories/edit/createStoryFile.ts';
import { editFile } from '../../stories/edit/fileEdit.ts';
import { requireInside } from '../../stories/outsideLinks.ts';
import { readStoryBytes, requireReadableSize } from '../../stories/storyFile.ts';
import type { RunFiles } from '../../workspace/runFiles.ts';
import { ignoreStateDir } from '../../workspace/stateIgnore.ts';
import type { DoneStory, SettledStories, Tracker, TrackerNote } from '../tracker.ts';
import { type GithubApi, GithubError } from './githubApi.ts';
import { closeIssue, commentOnce, doneKey, type FindUnpushed } from './githubDone.ts';
import {
  type GithubIssue,
  type IssueEntry,
  issueEntry,
  numberOf,
  storyIdOf,
} from './githubIssue.ts';
import { fetchIssues } from './githubIssues.ts';
import {
  MIRROR_FILE,
  mergeMirror,
  mirrorWithoutOutsiders,
  requireMirrorOf,
} from './githubMirror.ts';
import { freshNotes, type GithubNotes, readNotes, writeNotes } from './githubNotes.ts';
import type { GithubSource } from './githubSource.ts';

export interface GithubOptions {
  readonly files: RunFiles;
  readonly source: GithubSource;
  readonly api: GithubApi;
  readonly baseUrl: string;
  readonly whenDone: GithubWhenDone;
  /** Which of these commits nobody can see on GitHub yet. */
  readonly findUnpushed: FindUnpushed;
  readonly includesOutsiders: boolean;
  /** The person has not asked for these issues in this folder before: what is there came with the repository. */
  readonly isFirst: boolean;
  /** Whether a run continues with the copy if GitHub cannot be asked. */
  readonly isRun: boolean;
  readonly now?: () => number;
}

/** In ms: agents that end within moments need no look each. */
const MIN_PAUSE_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 60_000;

/**
 * The issues of a repository on GitHub as stories: keeps their copy up to date, and says on GitHub what is done here.
 * What was said is noted, so that a failure is tried again and nothing is said twice.
 */
export class GithubTracker implements Tracker {
  readonly file: string;
  private readonly options: GithubOptions;
  /** Nothing is asked before, in ms since the epoch. */
  private limitedUntil = 0;
  private lookedAt = 0;
  /** Until the first look. */
  private isForeign: boolean;
  /** What GitHub refuses is not tried again in this process. */
  private readonly refused = new Set<string>();
  private readonly said = new Set<string>();

  constructor(options: GithubOptions) {
    this.options = options;
    this.isForeign = options.isFirst;
    this.file = path.join(options.files.workspace, MIRROR_FILE);
  }

  /**
   * The first look, which makes the copy.
   * @returns problems, if a run has a copy to continue with
   * @throws {HumanError} if there is none, or the person must do something
   */
  async begin(): Promise<readonly TrackerNote[]> {
    try {
      return await this.look(undefined);
    } catch (error) {
      const isPassing =
        error instanceof GithubError && (error.failure === 'offline' || error.failure === 'limit');
      if (!isPassing) {
        throw error;
      }
      if (this.isForeign || (await readStoryBytes(this.file)) === undefined) {
        throw new HumanError(
          sentences([
            error.said,
            say(
              'The first look at the issues of {0} needs GitHub. Try again when it can be reached.',
              this.options.source.repository,
            ),
          ]),
        );
      }
      if (!this.options.isRun) {
        throw new HumanError(
          sentences([
            error.said,
            say('The copy stays as it was. Try again later: ralph-fresh github sync'),
          ]),
        );
      }
      await this.putOutsidersAside();
      return this.noteOf(error);
    }
  }

  /** Without GitHub, the copy and our notes may still have what was read with another setting. */
  private async putOutsidersAside(): Promise<void> {
    const { files, includesOutsiders, source } = this.options;
    if (includesOutsiders) {
      return;
    }
    await editFile(this.file, before => {
      const text = before.toString('utf8');
      requireMirrorOf(this.file, text, source);
      return this.readable(mirrorWithoutOutsiders(text));
    });
    await writeNotes(files, await this.notes());
  }

  /**
   * Says on GitHub what is done here.
   * @throws {HumanError} if GitHub cannot be asked
   */
  async tellDone(settled: SettledStories): Promise<readonly TrackerNote[]> {
    return (await this.hasNews(settled)) ? this.look(settled) : [];
  }

  async sync(
    settled: SettledStories | undefined,
    signal?: AbortSignal,
  ): Promise<readonly TrackerNote[]> {
    this.options.api.signal = signal;
    const now = this.now();
    if (now < this.limitedUntil) {
      return [];
    }
    const isSoon = now - this.lookedAt < MIN_PAUSE_MS;
    if (isSoon && !(await this.hasNews(settled))) {
      return [];
    }
    try {
      return await this.look(settled);
    } catch (error) {
      return this.noteOf(error);
    }
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private notes(): Promise<GithubNotes> {
    const { baseUrl, files, includesOutsiders, source } = this.options;
    const wanted = { baseUrl, source, outsiders: includesOutsiders };
    return this.isForeign ? Promise.resolve(freshNotes(wanted)) : readNotes(files, wanted);
  }

  private noteOf(error: unknown): readonly TrackerNote[] {
    requireHuman(error);
    if (error instanceof GithubError) {
      // Whatever it is, it does not pass within moments.
      this.limitedUntil = error.until ?? this.now() + PAUSE_AFTER_FAILURE_MS;
    }
    const isLimit = error instanceof GithubError && error.failure === 'limit';
    return this.once(
      isLimit ? 'githubLimit' : 'githubNotRead',
      sentences([
        error.said,
        say(
          'The run continues with the issues as they were; what is done is said on GitHub later.',
        ),
      ]),
      saidOf(error),
    );
  }

  /** A run of a night must not say the same at each boundary. */
  private once(code: string, detail: Message, about: unknown): readonly TrackerNote[] {
    const key = `${code} ${JSON.stringify(about)}`;
    if (this.said.has(key)) {
      return [];
    }
    this.said.add(key);
    return [{ code, detail }];
  }

  private async hasNews(settled: SettledStories | undefined): Promise<boolean> {
    if (settled === undefined || this.options.whenDone === 'nothing') {
      return false;
    }
    const notes = await this.notes();
    const open = this.openOn(notes);
    return settled.done.some(story => this.isUntold(story, notes, open));
  }

  private async look(settled: SettledStories | undefined): Promise<readonly TrackerNote[]> {
    const { api, files, source } = this.options;
    await ignoreStateDir(files);
    const notes = await this.notes();
    const base = this.entriesOf(notes);
    const found = await fetchIssues(api, source, notes);
    this.lookedAt = this.now();
    this.said.clear();
    const now: GithubNotes = { ...notes, pages: found.pages, others: found.others };
    const entries = this.entriesOf(now);
    const open = this.openOn(now);
    const untold = (settled?.done ?? []).filter(story =>
      this.isUntold(story, notes, this.openOn(notes)),
    );
    await this.write(entries, base, new Set(untold.map(({ id }) => id)));
    // Only after the copy has it: what is lost in between is found again by the next look.
    for (const id of [...(settled?.open ?? []), ...reopened(base, entries)]) {
      const number = numberOf(id);
      if (number !== undefined) {
        delete now.told[number];
      }
    }
    await writeNotes(files, now);
    this.isForeign = false;
    const problems = found.isCut
      ? this.once(
          'githubTooMany',
          say(
            '{0} has more issues than can be read. Name a label or a milestone.',
            source.repository,
          ),
          '',
        )
      : [];
    return [...problems, ...(await this.tell(settled, now, open))];
  }

  private entriesOf({ others, pages }: GithubNotes): readonly IssueEntry[] {
    const { includesOutsiders, source } = this.options;
    const isDone = (id: string) => others[numberOf(id) ?? 0]?.isOpen === false;
    return issuesOf(pages).map(issue => {
      const entry = issueEntry(issue, { includesOutsiders, repository: source.repository });
      const waits = entry['dependsOn'];
      return Array.isArray(waits)
        ? { ...entry, dependsOn: waits.filter(id => !isDone(String(id))) }
        : entry;
    });
  }

  private openOn({ pages }: GithubNotes): ReadonlySet<string> {
    return new Set(
      issuesOf(pages).flatMap(({ number, state }) => (state === 'closed' ? [] : storyIdOf(number))),
    );
  }

  private isUntold(story: DoneStory, { told }: GithubNotes, open: ReadonlySet<string>): boolean {
    const number = numberOf(story.id);
    const { whenDone } = this.options;
    if (number === undefined || whenDone === 'nothing' || !open.has(story.id)) {
      return false;
    }
    const known = told[number];
    return known === undefined || !known.commented || (whenDone === 'close' && !known.closed);
  }

  private async write(
    entries: readonly IssueEntry[],
    base: readonly IssueEntry[],
    keep: ReadonlySet<string>,
  ): Promise<void> {
    const merge = {
      source: this.options.source,
      entries,
      base: new Map(base.map(entry => [entry.id, entry])),
      keep,
      isForeign: this.isForeign,
      includesOutsiders: this.options.includesOutsiders,
    };
    if (!(await exists(this.file))) {
      requireInside(this.file);
      if (await createStoryFile(this.file, this.readable(mergeMirror(undefined, merge)))) {
        return;
      }
    }
    await editFile(this.file, before => {
      const text = before.toString('utf8');
      requireMirrorOf(this.file, text, this.options.source);
      return this.readable(mergeMirror(text, merge));
    });
  }

  private readable(text: string): Buffer {
    const content = Buffer.from(text);
    const advice = say('Name a label or a milestone, so that there are fewer issues.');
    requireReadableSize(this.file, content.length, advice);
    return content;
  }

  private async tell(
    settled: SettledStories | undefined,
    notes: GithubNotes,
    open: ReadonlySet<string>,
  ): Promise<readonly TrackerNote[]> {
    const problems: TrackerNote[] = [];
    for (const story of settled?.done ?? []) {
      const number = numberOf(story.id);
      if (
        number === undefined ||
        this.refused.has(story.id) ||
        !this.isUntold(story, notes, open)
      ) {
        continue;
      }
      try {
        await this.tellOne(story, number, notes, settled?.branch);
      } catch (error) {
        if (!(error instanceof GithubError)) {
          throw error;
        }
        const { failure, said, until } = error;
        if (failure === 'limit' || failure === 'offline') {
          this.limitedUntil = until ?? this.now() + PAUSE_AFTER_FAILURE_MS;
          return [
            ...problems,
            ...this.once(
              failure === 'limit' ? 'githubLimit' : 'githubNotTold',
              sentences([said, say('{0} is done; that is said on GitHub later.', story.id)]),
              story.id,
            ),
          ];
        }
        if (failure === 'gone' || failure === 'moved') {
          // Nobody is there to be told.
          notes.told[number] = { key: doneKey(story), commented: true, closed: true };
          await writeNotes(this.options.files, notes);
        }
        this.refused.add(story.id);
        problems.push({ code: 'githubNotTold', detail: said });
      }
    }
    return problems;
  }

  private async tellOne(
    story: DoneStory,
    number: number,
    notes: GithubNotes,
    branch: string | undefined,
  ): Promise<void> {
    const { api, files, findUnpushed, source, whenDone } = this.options;
    if (notes.told[number]?.commented !== true) {
      await commentOnce(api, source.repository, number, { story, branch, findUnpushed });
      notes.told[number] = { key: doneKey(story), commented: true, closed: false };
      await writeNotes(files, notes);
    }
    if (whenDone === 'close') {
      await closeIssue(api, source.repository, number);
      notes.told[number] = { key: doneKey(story), commented: true, closed: true };
      await writeNotes(files, notes);
    }
  }
}

function issuesOf(pages: GithubNotes['pages']): GithubIssue[] {
  const all = Object.values(pages).flatMap(({ issues }) => issues);
  return [...new Map(all.map(issue => [issue.number, issue])).values()].sort(
    (a, b) => a.number - b.number,
  );
}

/** Ids of issues that somebody has opened again. */
function reopened(before: readonly IssueEntry[], after: readonly IssueEntry[]): string[] {
  const done = new Set(before.flatMap(({ id, passes }) => (passes ? [id] : [])));
  return after.flatMap(({ id, passes }) => (!passes && done.has(id) ? [id] : []));
}
