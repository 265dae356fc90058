import { CodeSearch } from '../context/codeSearch.ts';
import { Briefer, type Briefing } from '../iteration/briefing.ts';
import { readPromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import type { RunEvent } from '../journal/events.ts';
import { INITIAL_RUN_STATE, type RunState } from '../journal/runState.ts';
import { UnstoredJournal } from '../journal/unstoredJournal.ts';
import { userTree } from '../places/place.ts';
import { readSnapshot } from '../places/snapshot.ts';
import { promptTemplateOf } from '../preconditions/template.ts';
import type { RunConfig } from '../settings/config.ts';
import type { Story } from '../stories/story.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { continuesLast } from './resume.ts';
import { otherWork } from './sameWork.ts';
import { tellPendingHints } from './tellHints.ts';

/** What a story's prompt depends on. */
export interface PreviewOf {
  readonly files: RunFiles;
  readonly config: RunConfig;
  /** Absolute. */
  readonly storyFile: string;
  readonly story: Story;
  /** Of the newest run. */
  readonly state: RunState;
}

/** The prompt that an agent would get. */
export interface PromptPreview extends Briefing {
  readonly iteration: number;
  /** What could not be read. */
  readonly warnings: readonly Extract<RunEvent, { type: 'warning' }>[];
}

/**
 * The prompt that an agent would get for a story if it started now in the person's work tree. Starts no agent; writes
 * nothing but the index of the code.
 */
export async function previewPrompt({
  config,
  files,
  state: newest,
  story,
  storyFile,
}: PreviewOf): Promise<PromptPreview> {
  const place = userTree(files.workspace, storyFile);
  const snapshot = await readSnapshot(storyFile, place.git);
  const template = await readPromptTemplate(promptTemplateOf(files.workspace));
  // Otherwise, the next agent is the first one of a new run.
  const state = (await isContinued(files, newest, storyFile, story)) ? newest : INITIAL_RUN_STATE;
  const journal = new UnstoredJournal(state);
  const warnings: Extract<RunEvent, { type: 'warning' }>[] = [];
  journal.onDidAppend(event => {
    if (event.type === 'warning') {
      warnings.push(event);
    }
  });
  const code = new CodeSearch(await contextFolder(files), { wait: true });
  try {
    const iteration = state.iteration + 1;
    // One that continues keeps its own limit.
    const { maxIterations } = state.maxIterations > 0 ? state : config;
    const run = {
      files,
      config: { ...config, maxIterations },
      storyFile,
      code,
      journal,
      state: () => journal.state,
    };
    // Its prompt includes them; they are not removed.
    await tellPendingHints(run, snapshot, story);
    const briefing = await new Briefer(run, template, snapshot).brief({
      ...{ iteration, story, place },
      before: snapshot,
    });
    return { ...briefing, iteration, warnings };
  } finally {
    await code.dispose();
  }
}

/** @returns `undefined` if nothing can be written: then the index is made for this prompt alone */
async function contextFolder(files: RunFiles): Promise<string | undefined> {
  try {
    await ignoreStateDir(files);
    return files.contextDir;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) {
      throw error;
    }
    return undefined;
  }
}

/** Whether the next run of this story continues the last one. That run may have had other stories, or another file. */
async function isContinued(
  files: RunFiles,
  state: RunState,
  storyFile: string,
  { id }: Story,
): Promise<boolean> {
  const { onlyStories, runId = '' } = state;
  const choice = { storyFile, ...(onlyStories?.includes(id) && { onlyStories }) };
  return (
    continuesLast(choice, state) && (await otherWork(files, choice, { runId, state })) === undefined
  );
}
