import path from 'node:path';
import type { RunState } from '../journal/runState.ts';
import { type RunContext, relativePath } from '../loop/runContext.ts';
import { realPlace, workTreeRoot } from '../stories/outsideLinks.ts';
import type { Story } from '../stories/story.ts';
import { describeGuardChange, type GuardChange } from './guard/guard.ts';
import { fitHandoff, type RalphFreshHandoff, refreshHandoffFromFiles } from './handoff.ts';
import { iterationPrompt } from './prompt/prompt.ts';
import type { PromptInput } from './prompt/promptInput.ts';
import { type Uncommitted, uncommittedOf } from './prompt/uncommitted.ts';

/** What one fresh agent is told. */
export interface Briefing {
  /** Fitted, as it is written to its file. */
  readonly handoff: RalphFreshHandoff;
  readonly prompt: string;
  /** What the prompt is made of, in tokens. */
  readonly sections: readonly { readonly name: string; readonly tokens: number }[];
}

/** Brings the handoff up to date and makes the prompt of it. Reads files, writes none. */
export async function brief(
  context: RunContext,
  iteration: number,
  story: Story | undefined,
): Promise<Briefing> {
  await refreshHandoff(context, iteration, story);
  // The prompt is made of what fits into the handoff, so that it is as small at iteration 1,000.
  const handoff = fitHandoff(context.handoff);
  const { sections, text } = iterationPrompt(
    promptInput(context, handoff, story),
    context.template,
  );
  return {
    handoff,
    prompt: text,
    sections: sections.map(({ name, tokens }) => ({ name, tokens })),
  };
}

/** Reads the files and git into the context's handoff. */
export async function refreshHandoff(
  context: RunContext,
  iteration: number,
  story?: Story,
): Promise<void> {
  const workTree = context.takeWorkTree();
  const recoveryAttempt = context.state.lastError?.recoveryAttempt;
  context.changedFiles = undefined;
  context.handoff = await refreshHandoffFromFiles(
    context.handoff,
    {
      ...(context.snapshot.stories && { stories: context.snapshot.stories }),
      progressFile: context.progressFile,
      git: context.git,
      ...(workTree && { workTree }),
      onWorkTree: ({ changed }) => {
        context.changedFiles = changed;
      },
      ...(context.snapshot.head === undefined ? {} : { head: context.snapshot.head }),
      state: context.state,
      iteration,
      ...(story && { storyId: story.id }),
      ...(recoveryAttempt === undefined ? {} : { recoveryAttempt }),
    },
    (code, detail) => context.warn(code, detail, iteration),
  );
}

function promptInput(
  context: RunContext,
  handoff: RalphFreshHandoff,
  story: Story | undefined,
): PromptInput {
  const { config, files, planDir, storyFile } = context.options;
  const { snapshot, state } = context;
  const about = storyNotes(state, story?.id);
  const uncommitted = uncommittedNow(context);
  return {
    handoff,
    task: context.task,
    ...(story && { story }),
    ...(storyFile === undefined ? {} : { storyFile: context.relative(storyFile) }),
    ...(planDir === undefined ? {} : { plan: planPaths(files.workspace, planDir) }),
    progressFile: context.relative(context.progressFile),
    stuckThreshold: config.stuckThreshold,
    ...(state.refusedPromise && { refusedPromise: state.refusedPromise }),
    ...(snapshot.storyFileProblem === undefined
      ? {}
      : { storyFileProblem: snapshot.storyFileProblem }),
    ...about,
    ...(uncommitted && { uncommitted }),
    ...(state.guard && state.guard.iteration === handoff.iteration - 1
      ? {
          guardNote: {
            iteration: state.guard.iteration,
            changes: state.guard.changes.map(change => describeGuardChange(change as GuardChange)),
          },
        }
      : {}),
    ...(config.verify.length === 0 ? {} : { verify: config.verify }),
  };
}

/** Whose the uncommitted files are; `undefined` when git did not tell. */
export function uncommittedNow(context: RunContext): Uncommitted | undefined {
  const { changedFiles } = context;
  return changedFiles && uncommittedIn(context, changedFiles);
}

/** Whose the files are that git says are uncommitted. */
export function uncommittedIn(context: RunContext, changed: readonly string[]): Uncommitted {
  const { iteration, uncommittedBefore } = context.state;
  return uncommittedOf(changed, {
    ...ownPlaces(context),
    // A run of an older version has not noted them.
    before: uncommittedBefore ?? (iteration === 0 ? undefined : []),
  });
}

/** The repository's root, and what the loop and its agents keep notes in; absolute paths. */
export function ownPlaces({ options, progressFile }: RunContext): {
  readonly own: readonly string[];
  readonly root: string;
} {
  const { files, planDir, storyFile } = options;
  // git names its files from the real root, so ours must be real, too.
  const real = (file: string) => realPlace(file) ?? file;
  const places = [path.join(files.workspace, '.omc'), progressFile, storyFile, planDir];
  return {
    root: workTreeRoot(real(files.workspace)),
    own: places.flatMap(place =>
      place === undefined
        ? []
        : [real(place), path.join(real(path.dirname(place)), path.basename(place))],
    ),
  };
}

/** What was said about this story: by the checks, the reviewer and the person. */
function storyNotes(
  { answers, failedCheck, hints, review }: RunState,
  storyId: string | undefined,
): Pick<PromptInput, 'failedCheck' | 'review' | 'hints' | 'answers'> {
  const isAbout = (other: string | undefined) => other === undefined || other === storyId;
  const given = hints.filter(hint => isAbout(hint.storyId)).map(({ text }) => text);
  const answered = answers.filter(answer => isAbout(answer.storyId));
  return {
    ...(failedCheck && isAbout(failedCheck.storyId) && { failedCheck }),
    ...(review && review.storyId === storyId && { review }),
    ...(given.length === 0 ? {} : { hints: given }),
    ...(answered.length === 0 ? {} : { answers: answered }),
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
