import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../base/messageOf.ts';
import { whole } from '../../base/numbers.ts';
import { readPlainFile, writeDerivedFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';
import { type RunState, storyRecord, WHOLE_TASK } from '../journal/runState.ts';
import { keepToBranch } from '../loop/branchWatch.ts';
import type { Verdict } from '../loop/policy.ts';
import type { RunContext, RunOptions } from '../loop/runContext.ts';
import { judgeClaims } from '../proof/claims.ts';
import { judge, signalOf, storyChanges } from '../proof/judge.ts';
import { nextStory } from '../stories/select.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { parseStoryFile, storyFileHash } from '../stories/storyFile.ts';
import { setRestorePoint } from '../workspace/restorePoints.ts';
import { brief, uncommittedNow } from './briefing.ts';
import { recordCommits } from './commitRecord.ts';
import { guardStories } from './guard/guarding.ts';
import { linkOf } from './guard/storyPlace.ts';
import { writeHandoff } from './handoff.ts';
import { LimitWait } from './limitWait.ts';
import { writeReceipt } from './receiptFile.ts';
import { readSnapshot, readStories, type Snapshot } from './snapshot.ts';

/** The story file as the iteration found it, kept in its folder until it is judged. */
const STORIES_BEFORE = 'stories-before';

/** What the iteration's agent was told. */
const PROMPT_NAME = 'prompt.md';

/** Files that were uncommitted before the run; of more nobody has an overview. */
const MAX_NOTED_FILES = 1_000;

/** A larger story file is refused when it is read. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** What an iteration started from. */
interface Beginning {
  readonly iteration: number;
  readonly story?: Story;
  readonly snapshot: Snapshot;
  /** The story file's bytes; absent without a readable one. */
  readonly bytes?: Buffer;
}

/**
 * One iteration: one fresh agent from prompt to recorded outcome.
 * @returns what ends the run, if anything. An iteration that a stop cuts off before its claim could be
 * checked stays open in the journal, and is judged when the run goes on.
 */
export async function runIteration(
  context: RunContext,
  iteration: number,
  story: Story | undefined,
): Promise<Verdict | undefined> {
  const { config } = context.options;
  let [beginning, { handoffBytes, prompt, sections }] = await Promise.all([
    begin(context, iteration, story),
    handOver(context, iteration, story, 'first'),
  ]);
  const { head } = beginning.snapshot;
  const { storyFile } = context.options;
  const storyLink = storyFile === undefined ? undefined : linkOf(storyFile);
  const isFirst = context.state.iteration === 0;
  const uncommitted = isFirst ? uncommittedNow(context) : undefined;
  // A skip of this story counts from here on; one of the last iteration's story does not.
  context.beginSkippable();
  context.append({
    type: 'iteration.started',
    iteration,
    maxIterations: config.maxIterations,
    ...(story && { storyId: story.id, storyTitle: story.title }),
    stories: context.count(),
    ...(head === undefined ? {} : { startCommit: head }),
    ...(context.branch === undefined ? {} : { branch: context.branch }),
    ...(storyLink === undefined ? {} : { storyLink }),
    ...(uncommitted && { uncommitted: uncommitted.before.slice(0, MAX_NOTED_FILES) }),
    promptBytes: Buffer.byteLength(prompt),
    promptSections: [...sections],
    handoffBytes,
    stuckFor: storyRecord(context.state, story?.id ?? WHOLE_TASK).stuckFor,
  });
  // On the disk before the agent starts, and the end of the iteration before with it.
  const recorded = context.journal.syncBeside();
  // Told of by the call; until then a failure must not count as unhandled.
  recorded.catch(() => undefined);
  // Beside the agent, which need not wait for them: what they tell is in the journal already. Awaited below; until then
  // a failure must not count as unhandled.
  let marks: Promise<unknown> | undefined;
  const setMarks = () => {
    marks ??= Promise.all([
      markActive(context),
      keepRestorePoint(context, iteration, head),
      // What cannot be removed now is tried again when the run ends or waits, and told then: the agent works.
      removeJudged(context).catch(() => undefined),
    ]);
    marks.catch(() => undefined);
    return marks;
  };
  const listener = context.journal.onDidAppend(({ type }) => {
    if (type === 'agent.started') {
      void setMarks();
    }
  });
  const result = await context.caller.call({
    purpose: 'story',
    iteration,
    prompt,
    dir: context.dir(iteration),
    promptName: PROMPT_NAME,
    isPromptWritten: true,
    streamName: 'stream',
    skip: context.skipSignal,
    ready: recorded,
    onExit: () => context.lookAhead(),
    ...(story && { isDone: () => isDoneNow(context, story) }),
    onWait: async () => {
      const wait = await LimitWait.begin(context, beginning.snapshot, story?.id);
      return async () => {
        const after = await wait.end();
        if (after.isNewStart) {
          beginning = await begin(context, iteration, after.story ?? story);
        }
        return after.isToDo
          ? (await handOver(context, iteration, after.story, 'next')).prompt
          : undefined;
      };
    },
  });
  listener.dispose();
  if (result.error !== undefined || result.notWanted) {
    // Some calls do not come to an exit of their own.
    context.takeWorkTree();
  }
  await setMarks();
  return settle(context, beginning, result);
}

/** For other tools. Where the agent removes the folder in the same moment, the loop puts all of it back. */
async function markActive(context: RunContext): Promise<void> {
  try {
    await context.writeStateFile(true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}

/** Writes the handoff, and the prompt where people look for it; the first one also where the iteration keeps it. */
async function handOver(
  context: RunContext,
  iteration: number,
  story: Story | undefined,
  which: 'first' | 'next',
) {
  const { files } = context.options;
  const { handoff, prompt, sections } = await brief(context, iteration, story);
  const handoffBytes = await writeHandoff(files, handoff);
  await writeDerivedFile(files.promptFile, prompt);
  if (which === 'first') {
    await writeDerivedFile(path.join(context.dir(iteration), PROMPT_NAME), prompt);
  }
  return { handoffBytes, prompt, sections };
}

/**
 * Judges the iteration that the end of the loop had cut off, by what it left: commits and files count.
 * @returns what ends the run, if anything
 */
export async function settleCutOff(context: RunContext): Promise<Verdict | undefined> {
  const { current } = context.state;
  if (current === undefined) {
    return undefined;
  }
  const { storyFile } = context.options;
  const bytes = await readKept(context.options, current.number);
  const stories = storiesOf(storyFile, bytes) ?? context.snapshot.stories;
  const story = stories?.stories.find(({ id }) => id === current.storyId);
  return settle(
    context,
    {
      iteration: current.number,
      ...(story && { story }),
      snapshot: {
        ...(stories && { stories }),
        ...(current.startCommit === undefined ? {} : { head: current.startCommit }),
      },
      ...(bytes === undefined ? {} : { bytes }),
    },
    undefined,
  );
}

/**
 * The stories as the iteration found them that the end of the loop had cut off; `undefined` without one. The
 * file itself may be half written by now.
 */
export async function storiesBeforeCutOff(
  options: RunOptions,
  { cutOff }: Pick<RunState, 'cutOff'>,
): Promise<StoryList | undefined> {
  return cutOff && storiesOf(options.storyFile, await readKept(options, cutOff.number));
}

function storiesOf(file: string | undefined, bytes: Buffer | undefined): StoryList | undefined {
  const read = file === undefined || bytes === undefined ? undefined : parseStoryFile(file, bytes);
  return read?.kind === 'stories' ? read : undefined;
}

async function begin(
  context: RunContext,
  iteration: number,
  story: Story | undefined,
): Promise<Beginning> {
  const { storyFile } = context.options;
  const dir = context.dir(iteration);
  mkdirSync(dir, { recursive: true });
  const { snapshot } = context;
  if (storyFile === undefined || snapshot.storyFileProblem !== undefined) {
    return { iteration, ...(story && { story }), snapshot };
  }
  const bytes = bytesOf(storyFile);
  // Changed in this moment by somebody else: then it cannot be told later who changed what.
  if (bytes === undefined || storyFileHash(bytes) !== snapshot.stories?.hash) {
    if (context.options.config.guard !== 'off') {
      context.warn('guardWithoutCopy', context.relative(storyFile), iteration);
    }
    return { iteration, ...(story && { story }), snapshot };
  }
  await writePlainFile(path.join(dir, `${STORIES_BEFORE}${path.extname(storyFile)}`), bytes);
  return { iteration, ...(story && { story }), snapshot, bytes };
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    // Gone in this moment; told as changed by somebody else.
    return undefined;
  }
}

async function readKept(
  { files, runId, storyFile }: RunOptions,
  iteration: number,
): Promise<Buffer | undefined> {
  if (storyFile === undefined) {
    return undefined;
  }
  const name = `${STORIES_BEFORE}${path.extname(storyFile)}`;
  return readPlainFile(path.join(files.iterationDir(runId, iteration), name), MAX_KEPT_BYTES);
}

/** Looks at what the agent left: guard, gate, reviewer, outcome, receipt. */
async function settle(
  context: RunContext,
  beginning: Beginning,
  result: AgentCallResult | undefined,
): Promise<Verdict | undefined> {
  const { config, storyFile } = context.options;
  const { iteration, story } = beginning;
  const before = beginning.snapshot;
  const look = async () => {
    context.snapshot = await readSnapshot(storyFile, context.git, before);
  };
  if (!context.looksAhead) {
    // Beside all that follows; what is restored or checked makes it worthless.
    context.lookAhead();
  }
  await context.look();
  context.snapshot = { ...before, ...(await readStories(storyFile, before)) };
  // Before the guard: going back to the branch may bring another story file.
  const astray = await checkBranch(context, beginning, result);
  if (astray) {
    await look();
    // The iteration stays open, so that its claims are neither believed nor refused; it is judged when the run goes on.
    return astray;
  }
  const guard = () =>
    guardStories(context, {
      ...{ iteration, story, before, bytes: beginning.bytes },
      link: context.state.current?.storyLink,
    });
  await guard();
  await look();
  const handled = context.handledNow();
  warnOfProblems(context, iteration);
  await recordOwedCommits(context);
  const origin = { iteration, storyId: story?.id, since: before.head };
  if (context.snapshot.gitProblem === undefined) {
    await warnOfLostCommits(context, origin);
    await recordCommits(context.journal, context.git, {
      ...origin,
      until: context.snapshot.head,
      known: context.state.commits,
    });
  } else {
    context.owedCommits ??= origin;
  }
  const storiesBefore = before.stories?.stories ?? [];
  const storiesAfter = () => context.snapshot.stories?.stories ?? [];
  const changes = storyChanges({ storiesBefore, storiesAfter: storiesAfter(), handled });
  for (const change of changes) {
    context.append({ type: 'story.changed', ...change, by: 'agent', iteration });
  }
  const judged = await judgeClaims(context, {
    iteration,
    ...(before.head === undefined ? {} : { startCommit: before.head }),
    // Also what a person ticked meanwhile: an agent could have forged that word.
    stories: storyChanges({
      storiesBefore,
      storiesAfter: storiesAfter(),
      handled: new Map(),
    }).flatMap(({ done, storyId }) => (done ? [storyId] : [])),
    isWholeTask:
      context.mode !== 'stories' && signalOf(result, config.completionPromise)?.kind === 'complete',
    // What the checks run is the agent's work as well: it may write to the story file, or leave the branch.
    afterChecks: async () => {
      await context.look();
      const left = await checkBranch(context, beginning, result);
      if (left === undefined) {
        await guard();
        await look();
      }
      return left;
    },
  });
  const isGuarded = context.state.guard?.iteration === iteration;
  if (isGuarded || judged.kind !== 'passed' || config.verify.length > 0 || config.reviewer) {
    context.takeWorkTree();
  }
  if (judged.kind === 'cutOff') {
    return judged.verdict;
  }
  if (judged.kind === 'refused') {
    await look();
  }
  const commits = context.state.commits.filter(commit => commit.iteration === iteration).length;
  const judgement = judge({
    ...(story && { story }),
    storiesBefore,
    storiesAfter: storiesAfter(),
    commits,
    ...(result && { result }),
    completionPromise: config.completionPromise,
    handled: context.handledNow(),
    stopped: result === undefined || isStopped(context, result),
    skipped: context.skipSignal.aborted,
    refused: judged.kind === 'refused',
    notWanted: result?.notWanted === true,
  });
  if (judgement.signal) {
    const { kind, message, accepted } = judgement.signal;
    context.append({
      type: 'promise.seen',
      iteration,
      signal: kind,
      message: message.slice(0, 2_000),
      accepted,
    });
  }
  const spent = context.state.current;
  const turns = result?.end.result?.turns;
  const ended = context.append({
    type: 'iteration.ended',
    iteration,
    ...(story && { storyId: story.id }),
    outcome: judgement.outcome,
    durationMs: result === undefined ? 0 : elapsed(spent?.startedAt),
    ...(spent?.usage === undefined && !spent?.costUsd ? {} : { costUsd: spent?.costUsd ?? 0 }),
    ...(spent?.costEstimated && { costEstimated: true }),
    ...(turns === undefined ? {} : { turns: whole(turns) }),
    ...(spent?.usage && { usage: { ...spent.usage } }),
    commits,
    progress: judgement.progress,
    stories: context.count(),
  });
  context.judgedIterations.add(iteration);
  await writeReceipt(context.dir(iteration), ended, context.state);
  tellOfTrouble(context, story);
  return judgement.verdict;
}

/** @returns what ends the run, when the work is not on its branch and cannot be brought there */
async function checkBranch(
  context: RunContext,
  { iteration, snapshot: { head } }: Beginning,
  result: AgentCallResult | undefined,
): Promise<Verdict | undefined> {
  const { current, branchLeft, onlyStories } = context.state;
  const { completionPromise } = context.options.config;
  const stories = context.snapshot.stories?.stories;
  const only = onlyStories && { only: new Set(onlyStories) };
  const astray = await keepToBranch(
    context,
    {
      iteration,
      branch: current?.branch ?? context.branch ?? (await context.git.branch()),
      startedAt: current?.startedAt ?? new Date().toISOString(),
      ...(head === undefined ? {} : { head }),
      ...(current?.leftElsewhere && { leftElsewhere: current.leftElsewhere }),
    },
    stories === undefined
      ? signalOf(result, completionPromise)?.kind === 'complete'
      : nextStory(stories, only).reason === 'allDone',
  );
  if (context.state.branchLeft !== branchLeft) {
    // What was asked of git meanwhile is about the other branch.
    context.takeWorkTree();
  }
  return astray;
}

/** A stop that ended the agent, or the waiting for a usage limit. */
function isStopped({ options }: RunContext, { error }: AgentCallResult): boolean {
  const { stop } = options;
  return stop.endSignal.aborted || (stop.requested && error?.kind === 'usageLimit');
}

async function isDoneNow({ options }: RunContext, story: Story): Promise<boolean> {
  const { stories } = await readStories(options.storyFile);
  return stories?.stories.some(({ done, id }) => id === story.id && done) === true;
}

/** Records the commits of an iteration after which git could not be read, as soon as it can. */
export async function recordOwedCommits(context: RunContext): Promise<void> {
  const { owedCommits, snapshot } = context;
  if (owedCommits !== undefined && snapshot.gitProblem === undefined) {
    context.owedCommits = undefined;
    await recordCommits(context.journal, context.git, {
      ...owedCommits,
      until: snapshot.head,
      known: context.state.commits,
    });
  }
}

/** Of an iteration that was cut off nobody knows how long it worked. */
function elapsed(startedAt: string | undefined): number {
  return startedAt === undefined ? 0 : Math.max(0, Date.now() - Date.parse(startedAt));
}

/** An agent that resets, amends or rebases may take away what others have done. */
async function warnOfLostCommits(
  context: RunContext,
  { iteration, since }: { readonly iteration: number; readonly since: string | undefined },
): Promise<void> {
  const { head } = context.snapshot;
  if (since === undefined || head === undefined || head === since) {
    return;
  }
  const lost = await context.git.commits({ since: head, at: since }).catch(() => []);
  if (lost.length > 0) {
    context.warn(
      'historyRewritten',
      lost.length === 1
        ? say(
            '1 earlier commit is no longer on the branch; ralph-fresh rollback {0} brings back what was there.',
            iteration,
          )
        : say(
            '{0} earlier commits are no longer on the branch; ralph-fresh rollback {1} brings back what was there.',
            lost.length,
            iteration,
          ),
      iteration,
    );
  }
}

function warnOfProblems(context: RunContext, iteration: number): void {
  const { snapshot } = context;
  if (snapshot.storyFileProblem !== undefined) {
    context.warn('storyFileUnreadable', snapshot.storyFileProblem, iteration);
  }
  if (snapshot.gitProblem !== undefined) {
    context.warn('gitUnreadable', snapshot.gitProblem, iteration);
  }
}

/** Told once, when a threshold is reached; what follows it is decided before the next iteration. */
function tellOfTrouble(context: RunContext, story: Story | undefined): void {
  const { failThreshold, stuckThreshold } = context.options.config;
  const storyId = story?.id ?? WHOLE_TASK;
  const { failures, stuckFor } = storyRecord(context.state, storyId);
  if (story && failures >= failThreshold) {
    // There is no next agent to warn.
    const words = say(
      '{0} has failed too often in a row ({1}); the run leaves it alone.',
      storyId,
      failures,
    );
    context.warn('storyLeftAlone', words, context.state.iteration);
  } else if (stuckFor === stuckThreshold) {
    context.append({ type: 'story.stuck', storyId, iterations: stuckFor, action: 'warn' });
  }
}

async function keepRestorePoint(
  context: RunContext,
  iteration: number,
  head: string | undefined,
): Promise<void> {
  if (head === undefined) {
    return;
  }
  const { files, runId } = context.options;
  try {
    await setRestorePoint(files.workspace, runId, iteration, head);
  } catch (error) {
    // The commit itself is in the journal, so going back still works while git keeps it.
    context.warn('restorePointNotKept', messageOf(error), iteration);
  }
}

/**
 * Brings the end of the last iteration to the disk, where no other iteration follows at once: the beginning of that would
 * bring both.
 */
export async function finishIteration(context: RunContext): Promise<void> {
  if (context.judgedIterations.size > 0) {
    await context.journal.syncBeside();
    await removeJudged(context);
  }
}

/**
 * Removes the story files that were kept for iterations that are over: they would fill the disk after a thousand. Not before
 * the ends of those iterations are on the disk: until then a power cut leaves an iteration that is to be judged.
 */
async function removeJudged(context: RunContext): Promise<void> {
  for (const iteration of [...context.judgedIterations]) {
    const dir = context.dir(iteration);
    for (const name of existsSync(dir) ? readdirSync(dir) : []) {
      if (name.startsWith(`${STORIES_BEFORE}.`) || name === STORIES_BEFORE) {
        await rm(path.join(dir, name), { force: true });
      }
    }
    context.judgedIterations.delete(iteration);
  }
}
