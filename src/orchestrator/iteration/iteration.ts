import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { saidOf } from '../../base/messageOf.ts';
import { writeDerivedFile } from '../../base/plainFile.ts';
import { untrackedFiles } from '../git/git.ts';
import { storyRecord, WHOLE_TASK } from '../journal/runState.ts';
import { usesFile } from '../journal/usedFiles.ts';
import { readStories, storyCountOf } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { relativePath } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { choiceOf } from '../stories/formats/callChoice.ts';
import type { Story } from '../stories/story.ts';
import { isDoneIn } from '../stories/storyChanges.ts';
import { readStoryBytes, storyFileHash } from '../stories/storyFile.ts';
import { setRestorePoint } from '../workspace/restorePoints.ts';
import type { Briefer, Briefing } from './briefing.ts';
import { linkOf } from './guard/storyPlace.ts';
import { writeHandoff } from './handoff.ts';
import { LimitWait } from './limitWait.ts';
import { collectWork, type Work } from './work.ts';

/** The agent's prompt, and the handoff it was created from. */
const PROMPT_NAME = 'prompt.md';
const HANDOFF_NAME = 'handoff.json';

/** Maximum number of noted files that were uncommitted before the run. */
const MAX_NOTED_FILES = 1_000;
/** The same of files that git did not track: a rollback leaves these. */
const MAX_UNTRACKED = 10_000;

/** The start state of an iteration. */
type Beginning = Pick<Work, 'scope' | 'kept'>;

/** One iteration: one fresh agent, from its prompt to its results. The results are judged elsewhere. */
export async function runIteration(run: Run, scope: Scope, briefer: Briefer): Promise<Work> {
  const { iteration, place, story } = scope;
  const isFirst = run.state().iteration === 0;
  let [beginning, { code, handoffBytes, prompt, sections, uncommitted }, untracked] =
    await Promise.all([
      begin(run, scope),
      handOver(run, scope, briefer),
      isFirst && scope.lane === undefined ? untrackedIn(scope) : undefined,
    ]);
  const { head } = scope.before;
  const storyLink = place.storyFile === undefined ? undefined : linkOf(place.storyFile);
  scope.append({
    type: 'iteration.started',
    iteration,
    maxIterations: run.config.maxIterations,
    ...(story && { storyId: story.id, storyTitle: story.title, ...choiceOf(story) }),
    lane: scope.lane,
    stories: storyCountOf(scope.before),
    startCommit: head,
    branch: run.branch,
    storyLink,
    storyFileHash: beginning.kept?.stories.hash,
    uncommitted: isFirst && uncommitted ? uncommitted.before.slice(0, MAX_NOTED_FILES) : undefined,
    untracked,
    promptBytes: Buffer.byteLength(prompt),
    promptSections: sections.map(({ name, tokens }) => ({ name, tokens })),
    code:
      code.length === 0
        ? undefined
        : code.map(({ path: file, reason }) => ({ path: file, reason })),
    handoffBytes,
    stuckFor: storyRecord(run.state(), story?.id ?? WHOLE_TASK).stuckFor,
  });
  const { judged } = run.keptStories;
  // On the disk before the agent starts, together with the end of the previous iteration.
  const recorded = run.journal.syncInParallel();
  // The call handles it; until then a failure must not count as unhandled.
  recorded.catch(() => undefined);
  // In parallel with the agent, which does not depend on them: the journal already has this information. Awaited
  // below; until then a failure must not count as unhandled.
  let marks: Promise<unknown> | undefined;
  const setMarks = () => {
    marks ??= Promise.all([
      markActive(run),
      keepRestorePoint(run, scope),
      // What cannot be removed now is tried again, and reported, when the run ends or waits.
      recorded.then(() => run.keptStories.removeJudged(judged)).catch(() => undefined),
    ]);
    marks.catch(() => undefined);
    return marks;
  };
  const used = new Set<string>();
  const listener = run.journal.onDidAppend(event => {
    if (event.type === 'agent.started') {
      void setMarks();
    } else if (event.type === 'agent.tool' && event.iteration === iteration && usesFile(event)) {
      used.add(event.gist);
    }
  });
  const result = await run.caller.call({
    purpose: 'story',
    iteration,
    prompt,
    cwd: place.dir,
    env: place.env,
    dir: scope.dir,
    promptName: PROMPT_NAME,
    isPromptWritten: true,
    streamName: 'stream',
    extra: story && choiceOf(story),
    skip: scope.skip,
    ready: recorded,
    // The next agent of a lane begins in a place that is made for it.
    onExit: scope.lane === undefined ? () => place.workTree.ask() : undefined,
    isDone: story ? () => isDoneInFile(scope, story) : undefined,
    onWait: async () => {
      const wait = await LimitWait.begin(run, beginning.scope);
      return async () => {
        const after = await wait.end();
        if (after.isNewStart) {
          beginning = await begin(run, after.scope);
        }
        return after.isToDo ? (await handOver(run, after.scope, briefer)).prompt : undefined;
      };
    },
  });
  listener.dispose();
  if (result.error !== undefined || result.notWanted) {
    // Some calls end without an exit.
    place.workTree.take();
  }
  await Promise.all([setMarks(), learnFrom(run, scope, { code, used })]);
  return collectWork(run, { ...beginning, result });
}

/** What later prompts learn from: which of the files that the agent was led to it used, and which others. */
async function learnFrom(
  { code: search, config }: Run,
  { append, place, story }: Scope,
  { code, used }: { readonly code: Briefing['code']; readonly used: ReadonlySet<string> },
): Promise<void> {
  if (config.contextTokens === 0 || story === undefined || used.size === 0) {
    return;
  }
  try {
    await search.remember(place.dir, {
      title: story.title,
      given: code.map(({ path: file }) => file),
      used: [...used],
    });
  } catch (error) {
    warn({ append }, 'codeNotSearched', saidOf(error));
  }
}

/** For other tools. If the agent removes the folder at the same time, the loop restores all of it. */
async function markActive({ marker }: Run): Promise<void> {
  try {
    await marker.write(true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}

/**
 * Writes handoff and prompt to the iteration's folder, and copies of them where people look for the latest ones.
 */
async function handOver({ files }: Run, scope: Scope, briefer: Briefer) {
  const { code, handoff, prompt, sections, uncommitted } = await briefer.brief(scope);
  const handoffBytes = await writeHandoff(path.join(scope.dir, HANDOFF_NAME), handoff);
  await writeHandoff(files.handoffFile, handoff);
  for (const file of [path.join(scope.dir, PROMPT_NAME), files.promptFile]) {
    await writeDerivedFile(file, prompt);
  }
  return { code, handoffBytes, prompt, sections, uncommitted };
}

async function begin(run: Run, scope: Scope): Promise<Beginning> {
  const { before, dir, iteration, place } = scope;
  const { storyFile } = place;
  mkdirSync(dir, { recursive: true });
  if (storyFile === undefined || before.storyFileProblem !== undefined) {
    return { scope };
  }
  const bytes = await readStoryBytes(storyFile);
  // Somebody has just changed it: then it would be unclear later who changed what.
  const { stories } = before;
  if (bytes === undefined || stories === undefined || storyFileHash(bytes) !== stories.hash) {
    if (run.config.guard !== 'off') {
      warn(scope, 'guardWithoutCopy', relativePath(run.files.workspace, storyFile));
    }
    return { scope };
  }
  await run.keptStories.keep(iteration, bytes);
  return { scope, kept: { bytes, stories } };
}

/** Without them, a rollback only knows which of these files git names by themselves. */
async function untrackedIn(scope: Scope): Promise<string[] | undefined> {
  try {
    const files = await untrackedFiles(scope.place.dir);
    return files.length === 0 ? undefined : files.slice(0, MAX_UNTRACKED);
  } catch (error) {
    warn(scope, 'gitUnreadable', saidOf(error));
    return undefined;
  }
}

async function isDoneInFile({ before, place }: Scope, story: Story): Promise<boolean> {
  const { stories } = await readStories(place.storyFile);
  return stories !== undefined && isDoneIn(stories.stories, story, before.stories?.stories ?? []);
}

async function keepRestorePoint({ files, id }: Run, scope: Scope): Promise<void> {
  const { head } = scope.before;
  if (head === undefined) {
    return;
  }
  try {
    await setRestorePoint(files.workspace, id, scope.iteration, head);
  } catch (error) {
    // The commit itself is in the journal, so a rollback works as long as git keeps it.
    warn(scope, 'restorePointNotKept', saidOf(error));
  }
}
