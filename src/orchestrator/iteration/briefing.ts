import path from 'node:path';
import { saidOf } from '../../base/messageOf.ts';
import { englishOf, type Words } from '../../base/say.ts';
import type { CodePointers } from '../context/codePointers.ts';
import { readContextChoices } from '../context/contextChoices.ts';
import { pinPathIn } from '../context/pin/pinPlace.ts';
import { type RunState, storyNotes, storyRecord } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { progressFileOf, type RunWork, relativePath, taskOf } from '../run/runWork.ts';
import type { ConflictNote } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { doneMark } from '../stories/edit/doneMark.ts';
import type { Story } from '../stories/story.ts';
import { parseStoryText, readStoryBytes, storyFileHash } from '../stories/storyFile.ts';
import { describeGuardChange, type GuardChange } from './guard/guardChanges.ts';
import {
  fitHandoff,
  initHandoff,
  type RalphFreshHandoff,
  refreshHandoffFromFiles,
  writeHandoff,
} from './handoff.ts';
import { misreadOf } from './misread.ts';
import { uncommittedIn } from './ownPlaces.ts';
import { type CodeSection, codeSection } from './prompt/codeSection.ts';
import type { PromptSection } from './prompt/prompt.ts';
import { iterationPrompt } from './prompt/prompt.ts';
import type { PromptInput } from './prompt/promptInput.ts';
import type { PromptTemplate } from './prompt/promptTemplate.ts';
import type { Uncommitted } from './prompt/uncommitted.ts';

/** The information for one fresh agent. */
export interface Briefing {
  /** Shortened to fit, as in its file. */
  readonly handoff: RalphFreshHandoff;
  readonly prompt: string;
  /** The sections of the prompt, in tokens. */
  readonly sections: readonly PromptSection[];
  /** The files of the code that the prompt names. */
  readonly code: CodeSection['files'];
  /** Who changed the uncommitted files; absent if git did not report them. */
  readonly uncommitted?: Uncommitted;
}

/** The iteration that gets the briefing. */
export interface Briefed {
  readonly iteration: number;
  readonly story?: Story;
  readonly place: Place;
  /** The files at its start. */
  readonly before: Snapshot;
  /** See `Scope`. */
  readonly lane?: number;
  readonly conflict?: ConflictNote;
}

type BriefedRun = RunWork &
  Pick<Run, 'code' | 'config' | 'isProgressUnreadable' | 'state'> & {
    readonly journal: Pick<Run['journal'], 'append'>;
  };

/** Creates the briefings of fresh agents. If a source cannot be read, its previous content is used. */
export class Briefer {
  private readonly run: BriefedRun;
  private readonly template: PromptTemplate | undefined;
  private handoff: RalphFreshHandoff;

  /**
   * @param template the person's own prompt
   * @param snapshot the files at the start of the run
   */
  constructor(run: BriefedRun, template: PromptTemplate | undefined, snapshot: Snapshot) {
    this.run = run;
    this.template = template;
    this.handoff = initHandoff({
      prompt: taskOf(run, snapshot),
      maxIterations: run.config.maxIterations,
      completionPromise: run.config.completionPromise,
    });
  }

  /** Updates the handoff and creates the prompt from it. Reads files, writes none. */
  async brief(at: Briefed): Promise<Briefing> {
    const [changed, code, mark] = await Promise.all([this.refresh(at), this.code(at), markOf(at)]);
    const uncommitted = changed && uncommittedIn(this.run, changed);
    // The prompt only uses what fits into the handoff, so that it is as small at iteration 1,000.
    const handoff = fitHandoff(this.handoff);
    const { sections, text } = iterationPrompt(
      { ...this.promptInput(at, handoff, uncommitted, code.text), doneMark: mark },
      this.template,
    );
    return {
      handoff,
      prompt: text,
      sections,
      code: sections.some(({ name }) => name === 'code') ? code.files : [],
      uncommitted,
    };
  }

  /** Writes the handoff at the end of a run. */
  async end(
    at: Omit<Briefed, 'story'>,
    { completed, message }: { readonly completed: boolean; readonly message: Words | undefined },
    isWritten: () => boolean,
  ): Promise<void> {
    await this.refresh(at);
    this.handoff = {
      ...this.handoff,
      completed,
      ...(message === undefined ? {} : { completion_message: englishOf(message) }),
    };
    if (isWritten()) {
      await writeHandoff(this.run.files.handoffFile, this.handoff);
    }
  }

  /**
   * Updates the handoff from the files and git. @returns the uncommitted files, relative to the repository's root
   */
  private async refresh({
    before,
    iteration,
    place,
    story,
  }: Briefed): Promise<readonly string[] | undefined> {
    const { run } = this;
    const state = run.state();
    const workTree = place.workTree.take();
    let changedFiles: readonly string[] | undefined;
    let isUnreadable = false;
    this.handoff = await refreshHandoffFromFiles(
      this.handoff,
      {
        stories: before.stories,
        progressFile: progressFileOf(run),
        git: place.git,
        workTree,
        onWorkTree: ({ changed }) => {
          changedFiles = changed;
        },
        head: before.head,
        state,
        iteration,
        storyId: story?.id,
      },
      (code, detail) => {
        isUnreadable ||= code === 'progressUnreadable';
        // It stays like this until a person changes it, and would be said before each agent.
        if (code !== 'progressUnreadable' || !run.isProgressUnreadable) {
          warn(run.journal, code, detail, iteration);
        }
      },
    );
    run.isProgressUnreadable = isUnreadable;
    return changedFiles;
  }

  /** Where the agent should look; nothing if the code cannot be searched, or its index is not there yet. */
  private async code({ before, iteration, place, story }: Briefed): Promise<CodeSection> {
    const { run } = this;
    const { code, config, files } = run;
    let pointers: CodePointers | undefined;
    if (config.contextTokens > 0 && before.head !== undefined) {
      try {
        const { barred, pinned } = await readContextChoices(files.contextFile, story?.id);
        pointers = await code.pointers({
          dir: place.dir,
          commit: before.head,
          title: story?.title ?? taskOf(run, before),
          text:
            story === undefined
              ? ''
              : [story.description, ...story.criteria.map(({ text }) => text)].join('\n'),
          pinned,
          // The prompt tells about the story file and the Pin anyway.
          barred: [
            ...barred,
            ...(run.storyFile === undefined ? [] : [relativePath(files.workspace, run.storyFile)]),
            ...[pinPathIn(place.dir)].filter(path => path !== undefined),
          ],
        });
      } catch (error) {
        warn(run.journal, 'codeNotSearched', saidOf(error), iteration);
      }
    }
    return codeSection(pointers ?? { files: [], commits: [] }, config.contextTokens);
  }

  private promptInput(
    { before, conflict, lane, place, story }: Briefed,
    handoff: RalphFreshHandoff,
    uncommitted: Uncommitted | undefined,
    code: string,
  ): PromptInput {
    const { run } = this;
    const { config, files, planDir, storyFile } = run;
    const state = run.state();
    const relative = (file: string) => relativePath(files.workspace, file);
    return {
      handoff,
      task: taskOf(run, before),
      story,
      code,
      pin: pinPathIn(place.dir),
      lane,
      conflict,
      storyFile: storyFile === undefined ? undefined : relative(storyFile),
      plan: planDir === undefined ? undefined : planPaths(files.workspace, planDir),
      progressFile: relative(progressFileOf(run)),
      stuckThreshold: config.stuckThreshold,
      storyFileProblem: before.storyFileProblem && englishOf(before.storyFileProblem),
      ...said(state, story?.id),
      // A lane begins with the file of the run's branch, and not with what its last agent wrote.
      ...misreadOf(
        before.stories,
        story,
        lane === undefined ? undefined : storyNotes(state, story?.id),
      ),
      uncommitted,
      duplicates: state.duplicates,
      verify: config.verify.length === 0 ? undefined : config.verify,
    };
  }
}

/** What the agent has to write when its story is done. */
async function markOf({ before, place, story }: Briefed): Promise<string | undefined> {
  const { storyFile } = place;
  const bytes = storyFile === undefined ? undefined : await readStoryBytes(storyFile);
  if (story === undefined || storyFile === undefined || bytes === undefined) {
    return undefined;
  }
  // The file may have changed since; then its positions may be those of other stories.
  return storyFileHash(bytes) === before.stories?.hash
    ? doneMark(parseStoryText(storyFile, bytes), story)
    : undefined;
}

/** Feedback on this story: from the checks, the reviewer, the guard and the person. */
function said(
  state: RunState,
  storyId: string | undefined,
): Pick<
  PromptInput,
  | 'answers'
  | 'elsewhere'
  | 'failedCheck'
  | 'guardNote'
  | 'hints'
  | 'previousIteration'
  | 'refusedPromise'
  | 'review'
  | 'unclaimed'
> {
  const isAbout = (other: string | undefined) => other === undefined || other === storyId;
  const hints = state.hints.filter(hint => isAbout(hint.storyId)).map(({ text }) => text);
  const answers = state.answers.filter(answer => isAbout(answer.storyId));
  const { elsewhere, failedCheck, guard, lastIteration, refusedPromise, review } = storyNotes(
    state,
    storyId,
  );
  return {
    failedCheck: failedCheck && {
      ...failedCheck,
      output: failedCheck.problem ? englishOf(failedCheck.problem) : failedCheck.output,
    },
    review: review && { ...review, objections: review.objections.map(englishOf) },
    // Earlier iterations have already been informed about older violations.
    guardNote:
      guard && guard.iteration === lastIteration?.number
        ? {
            iteration: guard.iteration,
            changes: [
              ...(guard.idShared === undefined ? [] : [englishOf(guard.idShared)]),
              ...guard.changes.map(change => describeGuardChange(change as GuardChange)),
            ],
          }
        : undefined,
    previousIteration: lastIteration?.number,
    elsewhere,
    refusedPromise,
    unclaimed: storyId === undefined ? undefined : storyRecord(state, storyId).unclaimed,
    hints: hints.length === 0 ? undefined : hints,
    answers: answers.length === 0 ? undefined : answers,
  };
}

function planPaths(workspace: string, planDir: string): NonNullable<PromptInput['plan']> {
  const dir = relativePath(workspace, planDir);
  return {
    dir,
    planFile: path.posix.join(dir, 'plan.md'),
    progressFile: path.posix.join(dir, 'progress.md'),
    errorsFile: path.posix.join(dir, 'errors.log'),
  };
}
