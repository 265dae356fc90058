import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { ChildProcesses, Exit } from './childProcesses.ts';
import type { PreparedCommit, PreparedStory, PreparedWork } from './preparedWork.ts';
import { storyInPrompt } from './prompt.ts';
import {
  addProgress,
  PRD_FILE,
  PROGRESS_FILE,
  type Prd,
  parsePrd,
  readIfThere,
  setPasses,
  writeWhole,
} from './sampleFiles.ts';
import { findTestRunner, type TestRunner } from './testRunner.ts';
import type { Transcript } from './transcript.ts';

const SAMPLE_NAME = 'ralph-fresh-sample';
/** What the prompt of a planning agent begins with. */
const PLANNING = '# Ralph Fresh - Planning';
/** What the prompt of an agent begins with that is to split a story. */
const SPLITTING = '# Ralph Fresh - Splitting';
/** On the command line and in VS Code. */
const CHOOSE_CLAUDE = 'the agent claude (--agent claude, setting ralphFresh.agent)';
const FOREIGN = `The demo agent only plays back prepared work for the Ralph Fresh sample, and this folder is another project. Choose ${CHOOSE_CLAUDE} to have the work done here.`;
const OWN_IDENTITY = [
  '-c',
  'user.name=Ralph Fresh demo agent',
  '-c',
  'user.email=demo@ralph-fresh.invalid',
];
const LOCK_RETRIES = 3;
const LOCK_WAIT_MS = 500;
const HOLD_RECHECK_MS = 1000;
const MAX_SHOWN = 4000;

/** The work cannot be played back here; the message is for the person, one line. */
export class NeedsHuman extends Error {}
/** A command failed, so the story is not done. */
export class PlaybackFailed extends Error {}

export interface PlaybackOptions {
  readonly cwd: string;
  readonly prompt: string;
  readonly work: PreparedWork;
  readonly transcript: Transcript;
  readonly children: ChildProcesses;
  readonly signal: AbortSignal;
  /** Pause before each step, so that a person can follow. */
  readonly paceMs: number;
  /** While this file exists, or in this folder a file named after the story, the story is not ticked. */
  readonly hold?: string;
}

/** Works off the one story that the prompt names. */
export class Playback {
  readonly #options: PlaybackOptions;
  readonly #transcript: Transcript;
  #runner: TestRunner | undefined;

  constructor(options: PlaybackOptions) {
    this.#options = options;
    this.#transcript = options.transcript;
  }

  /**
   * @returns the final text
   * @throws {NeedsHuman | PlaybackFailed} when the story could not be done
   */
  async run(): Promise<string> {
    if (this.#options.prompt.startsWith(PLANNING)) {
      return this.#plan();
    }
    if (this.#options.prompt.startsWith(SPLITTING)) {
      throw new PlaybackFailed(
        `The demo agent only plays back prepared work and cannot split stories. Choose ${CHOOSE_CLAUDE} for that.`,
      );
    }
    await this.#requireSample();
    await this.#requireStoryFile();
    const prdText = await this.#read(PRD_FILE);
    const prd = parsePrd(prdText);
    if (!prd) {
      throw new NeedsHuman(
        `${PRD_FILE} is not a list of user stories in JSON. Mend the file and run again.`,
      );
    }
    const asked = storyInPrompt(this.#options.prompt, prd.userStories);
    if (!asked) {
      throw new NeedsHuman(
        `The prompt does not name one story of ${PRD_FILE}, so there is nothing to play back.`,
      );
    }
    if (asked.passes) {
      return withPromise(
        `${asked.id} is already done: ${PRD_FILE} says so. I have changed nothing.`,
        prd,
      );
    }
    const story = this.#options.work.stories.find(
      ({ id, title }) => id === asked.id && title === asked.title,
    );
    if (!story) {
      throw new NeedsHuman(
        `There is no prepared work for ${asked.id} with this title. The demo agent only plays back the sample's own stories; choose the agent claude to have this one built.`,
      );
    }
    await this.#requireRepository();
    await this.#requireKnownFiles(story);
    this.#runner = await this.#requireTestRunner();

    await this.#say(story.opening);
    for (const commit of story.commits) {
      // An iteration that was cut off may have left tests of the next commit, for which there is no code yet.
      // So an earlier commit is not checked once more; the last one is, before the story is ticked.
      if (commit !== story.commits.at(-1) && (await this.#isCommitted(commit))) {
        await this.#say(`"${commit.message}" is committed already. I go on from there.`);
      } else {
        await this.#playCommit(commit);
      }
    }
    await this.#recordProgress(story);
    await this.#hold(story.id);
    const after = await this.#tick(story);
    return withPromise(`${story.id} (${story.title}) is done. ${story.done}`, after);
  }

  async #requireSample(): Promise<void> {
    const Package = z.looseObject({ name: z.string() });
    let name: string | undefined;
    try {
      const text = await readIfThere(this.#absolute('package.json'));
      name = Package.parse(JSON.parse(text ?? '')).name;
    } catch {
      // Unreadable is as foreign as absent.
    }
    if (name !== SAMPLE_NAME) {
      throw new NeedsHuman(FOREIGN);
    }
  }

  async #requireStoryFile(): Promise<void> {
    if ((await readIfThere(this.#absolute(PRD_FILE))) === undefined) {
      throw new NeedsHuman(FOREIGN);
    }
  }

  /** Whatever the task is: other work than the sample's stories could not be played back. */
  async #plan(): Promise<string> {
    await this.#requireSample().catch((error: Error) => {
      // Nobody answers a planner's question.
      throw new PlaybackFailed(error.message);
    });
    await this.#say(
      'I look at the project, and cut the work into stories that one agent can finish.',
    );
    return `The demo agent has one plan, that of the sample.\n\n\`\`\`json\n${this.#options.work.plan.trimEnd()}\n\`\`\``;
  }

  async #requireRepository(): Promise<void> {
    // Empty at the top of a work tree; a sample inside another repository must not commit into that one.
    const top = await this.#options.children.run('git', ['rev-parse', '--show-prefix']);
    if (!top.started) {
      throw new NeedsHuman(
        'Git was not found. Install it, make sure that it is on the PATH, and run again.',
      );
    }
    if (top.code !== 0) {
      throw new NeedsHuman(
        'This folder is not a git repository, and every story ends in commits. Run "git init" here, commit the sample, and run again.',
      );
    }
    if (top.stdout.trim() !== '') {
      throw new NeedsHuman(
        'The sample lies inside another git repository, and the demo must not commit into that one. Copy the sample to a folder of its own, run "git init" there, and run again.',
      );
    }
    await this.#bash('git status --short --branch', () =>
      this.#options.children.run('git', ['status', '--short', '--branch']),
    );
  }

  /** Looks at all files of a story before the first is written, so that a refusal changes nothing. */
  async #requireKnownFiles(story: PreparedStory): Promise<void> {
    const seen = new Set<string>();
    for (const commit of story.commits) {
      for (const file of commit.files.keys()) {
        if (seen.has(file)) {
          continue;
        }
        seen.add(file);
        const standing = this.#options.work.standing(
          commit,
          file,
          await readIfThere(this.#absolute(file)),
        );
        if (standing === 'foreign') {
          throw new NeedsHuman(
            `${file} is not as the prepared work knows it, and playing back would undo somebody's change. Restore the file with git, or choose the agent claude.`,
          );
        }
        if (standing === 'behind') {
          throw new NeedsHuman(
            `The prepared work for ${story.id} builds on earlier stories whose code is not in ${file}. Have those stories done first.`,
          );
        }
      }
    }
  }

  async #requireTestRunner(): Promise<TestRunner> {
    const runner = await findTestRunner(this.#options.children);
    if (!runner) {
      throw new NeedsHuman(
        'The tests of the sample need a Node that runs TypeScript, and none was found. Install Node 22.18 or later, make sure that it is on the PATH, and run again.',
      );
    }
    return runner;
  }

  async #playCommit(commit: PreparedCommit): Promise<void> {
    const missing = new Set<string>();
    for (const file of commit.files.keys()) {
      const content = await readIfThere(this.#absolute(file));
      if (this.#options.work.standing(commit, file, content) !== 'present') {
        missing.add(file);
      }
    }
    if (missing.size === 0) {
      await this.#say(`The files for "${commit.message}" are there already. I check them.`);
      await this.#testGreen();
    } else {
      for (const step of commit.steps) {
        if ('say' in step) {
          await this.#say(step.say);
        } else if ('read' in step) {
          await this.#read(step.read);
        } else if ('write' in step) {
          if (missing.has(step.write)) {
            await this.#write(step.write, commit.files.get(step.write) ?? '');
          }
        } else if (step.test === 'red') {
          const { passed } = await this.#test();
          await this.#say(passed ? 'These tests pass already.' : step.failed);
        } else {
          await this.#testGreen();
        }
      }
    }
    await this.#commit(commit.message, [...commit.files.keys()]);
  }

  async #isCommitted({ message }: PreparedCommit): Promise<boolean> {
    const log = await this.#git(['log', '--format=%s', '--max-count=1000']);
    return log.code === 0 && log.stdout.split(/\r?\n/).includes(message);
  }

  async #test(): Promise<{
    readonly passed: boolean;
    readonly count: number;
    readonly output: string;
  }> {
    const runner = this.#runner;
    if (!runner) {
      throw new Error('No test runner was looked for.');
    }
    const exit = await this.#bash('node --test', () => runner.run());
    // A runner that finds no test files exits with 0 too.
    const count = Number(/^ℹ tests (\d+)$/m.exec(exit.stdout)?.[1] ?? 0);
    return { passed: exit.code === 0 && count > 0, count, output: output(exit) };
  }

  async #testGreen(): Promise<void> {
    const { passed, count, output } = await this.#test();
    if (!passed) {
      throw new PlaybackFailed(
        count === 0 && output === ''
          ? 'The tests could not be run.'
          : `The tests do not pass, so the story is not done:\n\n${output}`,
      );
    }
    await this.#say(`All ${count} tests pass.`);
  }

  async #recordProgress(story: PreparedStory): Promise<void> {
    const before = (await readIfThere(this.#absolute(PROGRESS_FILE))) ?? '';
    const files = [...new Set(story.commits.flatMap(commit => [...commit.files.keys()]))];
    const after = addProgress(before, { ...story, files }, new Date());
    if (after !== before) {
      await this.#write(PROGRESS_FILE, after);
    }
  }

  /** The story is ticked last, and the tick is taken back when it cannot be committed. */
  async #tick(story: PreparedStory): Promise<Prd> {
    await this.#pause();
    const before = await this.#contentOf(PRD_FILE);
    const ticked = setPasses(before, story.id, true);
    if (ticked === undefined) {
      if (parsePrd(before)?.userStories.some(({ id, passes }) => id === story.id && passes)) {
        return this.#currentPrd();
      }
      throw new NeedsHuman(
        `${story.id} is finished, but ${PRD_FILE} has no "passes" of it to set. Mend the file and run again.`,
      );
    }
    await this.#write(PRD_FILE, ticked, story.id);
    try {
      await this.#commit(
        `chore: mark ${story.id} as done`,
        await this.#notIgnored([PROGRESS_FILE, PRD_FILE]),
      );
    } catch (error) {
      if (
        error instanceof PlaybackFailed &&
        (await readIfThere(this.#absolute(PRD_FILE))) === ticked
      ) {
        await this.#write(PRD_FILE, before, story.id);
      }
      throw error;
    }
    return this.#currentPrd();
  }

  async #currentPrd(): Promise<Prd> {
    return parsePrd(await this.#contentOf(PRD_FILE)) ?? { userStories: [] };
  }

  async #hold(storyId: string): Promise<void> {
    const { hold, signal } = this.#options;
    const found = hold === undefined ? undefined : statSync(hold, { throwIfNoEntry: false });
    if (hold === undefined || found === undefined) {
      return;
    }
    const holdFile = found.isDirectory() ? path.join(hold, storyId) : hold;
    if (!existsSync(holdFile)) {
      return;
    }
    await this.#say(
      `I wait before I mark the story as done, until the file that holds me is gone.`,
    );
    await gone(holdFile, signal);
  }

  /** Commits these files alone, whatever else is changed or staged; nothing when they are committed already. */
  async #commit(message: string, files: readonly string[]): Promise<void> {
    if (files.length === 0) {
      return;
    }
    const status = await this.#git(['status', '--porcelain', '--', ...files]);
    if (status.code === 0 && status.stdout === '') {
      return;
    }
    const identity = await this.#identity();
    const list = files.join(' ');
    const shown = [
      'git',
      ...identity.map(quoted),
      'commit',
      '-m',
      quoted(message),
      '--',
      list,
    ].join(' ');
    const exit = await this.#bash(`git add -- ${list} && ${shown}`, async () => {
      const added = await this.#git(['add', '--', ...files]);
      return added.code === 0
        ? this.#git([...identity, 'commit', '-m', message, '--', ...files])
        : added;
    });
    if (exit.code !== 0) {
      throw new PlaybackFailed(
        `The work could not be committed, so the story is not done:\n\n${output(exit)}`,
      );
    }
  }

  async #identity(): Promise<readonly string[]> {
    const name = await this.#git(['config', '--get', 'user.name']);
    const email = await this.#git(['config', '--get', 'user.email']);
    return name.stdout.trim() !== '' && email.stdout.trim() !== '' ? [] : OWN_IDENTITY;
  }

  /** A person may keep the story file out of git; then there is nothing of it to commit. */
  async #notIgnored(files: readonly string[]): Promise<readonly string[]> {
    const ignored = await this.#git(['check-ignore', '--', ...files]);
    const names = new Set(ignored.stdout.split(/\r?\n/));
    return files.filter(file => !names.has(file));
  }

  /** The editor and the loop look at the repository too, so a lock may be there for a moment. */
  async #git(args: readonly string[]): Promise<Exit> {
    for (let attempt = 1; ; attempt += 1) {
      const exit = await this.#options.children.run('git', args);
      if (exit.code === 0 || attempt > LOCK_RETRIES || !exit.stderr.includes('index.lock')) {
        return exit;
      }
      await sleep(LOCK_WAIT_MS, undefined, { signal: this.#options.signal });
    }
  }

  async #bash(command: string, run: () => Promise<Exit>): Promise<Exit> {
    await this.#pause();
    const id = this.#transcript.toolUse('Bash', { command });
    const exit = await run();
    const { stdout, stderr } = exit;
    // Claude Code's own Bash tool begins a failed command's output in the same way.
    const shown = exit.code === 0 ? output(exit) : `Exit code ${exit.code}\n${output(exit)}`;
    this.#transcript.toolResult(id, shown, exit.code !== 0, {
      stdout: tail(stdout),
      stderr: tail(stderr),
      interrupted: false,
    });
    return exit;
  }

  async #read(file: string): Promise<string> {
    await this.#pause();
    const id = this.#transcript.toolUse('Read', { file_path: this.#absolute(file) });
    const content = await this.#contentOf(file);
    const numbered = content
      .split(/\r?\n/)
      .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
      .join('\n');
    this.#transcript.toolResult(id, numbered, false);
    return content;
  }

  /** @param anchor text before the change that makes the replaced part unique */
  async #write(file: string, content: string, anchor?: string): Promise<void> {
    await this.#pause();
    const file_path = this.#absolute(file);
    const before = await readIfThere(file_path);
    const id =
      before === undefined
        ? this.#transcript.toolUse('Write', { file_path, content })
        : this.#transcript.toolUse('Edit', { file_path, ...changedPart(before, content, anchor) });
    await writeWhole(file_path, content);
    const said = before === undefined ? 'File created successfully at' : 'Updated the file';
    this.#transcript.toolResult(id, `${said} ${file_path}`, false);
  }

  async #say(text: string): Promise<void> {
    await this.#pause();
    this.#transcript.say(text);
  }

  async #pause(): Promise<void> {
    await sleep(this.#options.paceMs, undefined, { signal: this.#options.signal });
  }

  async #contentOf(file: string): Promise<string> {
    const content = await readIfThere(this.#absolute(file));
    if (content === undefined) {
      throw new NeedsHuman(`${file} is gone. Restore it with git and run again.`);
    }
    return content;
  }

  #absolute(file: string): string {
    return path.join(this.#options.cwd, file);
  }
}

/** The promise is made for what the file says, not for what was played back. */
function withPromise(text: string, prd: Prd): string {
  const { userStories } = prd;
  return userStories.length > 0 && userStories.every(story => story.passes)
    ? `${text}\n\nAll ${userStories.length} stories are done.\n\n<promise>TASK_COMPLETE</promise>`
    : text;
}

function output({ stdout, stderr }: Exit): string {
  return tail([stdout.trim(), stderr.trim()].filter(text => text !== '').join('\n'));
}

function tail(text: string): string {
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What an Edit would show: the lines that differ, with a line before them when nothing is replaced. */
function changedPart(
  before: string,
  after: string,
  anchor: string | undefined,
): { readonly old_string: string; readonly new_string: string } {
  const old = before.split('\n');
  const fresh = after.split('\n');
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) {
    start += 1;
  }
  let same = 0;
  while (
    same < Math.min(old.length, fresh.length) - start &&
    old[old.length - 1 - same] === fresh[fresh.length - 1 - same]
  ) {
    same += 1;
  }
  if (anchor !== undefined) {
    while (start > 0 && !old[start]?.includes(anchor)) {
      start -= 1;
    }
  } else if (start > 0 && start === old.length - same) {
    start -= 1;
  }
  return {
    old_string: old.slice(start, old.length - same).join('\n'),
    new_string: fresh.slice(start, fresh.length - same).join('\n'),
  };
}

/** Resolves when the file does not exist (any more). */
async function gone(file: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    let watcher: FSWatcher | undefined;
    const settle = (finish: () => void) => {
      watcher?.close();
      clearInterval(timer);
      signal.removeEventListener('abort', abort);
      finish();
    };
    const abort = () => settle(() => reject(signal.reason));
    const check = () => {
      if (!existsSync(file)) {
        settle(resolve);
      }
    };
    // Some file systems report nothing, so the watcher is not all that is relied upon.
    const timer = setInterval(check, HOLD_RECHECK_MS);
    signal.addEventListener('abort', abort);
    try {
      watcher = watch(path.dirname(file), check);
      watcher.on('error', () => watcher?.close());
    } catch {
      // The folder is gone, or cannot be watched; the timer finds out.
    }
    check();
  });
}
