import * as z from 'zod/mini';
import type { ChildProcesses } from './childProcesses.ts';
import { Commits } from './commits.ts';
import { NeedsHuman, PlaybackFailed } from './endings.ts';
import { gone, holdFileOf } from './hold.ts';
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
} from './sampleFiles.ts';
import { findTestRunner, type TestRunner } from './testRunner.ts';
import { output, type ToolOptions, Tools } from './tools.ts';

const SAMPLE_NAME = 'ralph-fresh-sample';
/** Start of the prompt of a planning agent. */
const PLANNING = '# Ralph Fresh - Planning';
/** Start of the prompt of an agent that must split a story. */
const SPLITTING = '# Ralph Fresh - Splitting';
/** For the command line and VS Code. */
const CHOOSE_CLAUDE = 'the agent claude (--agent claude, setting ralphFresh.agent)';
const FOREIGN = `The demo agent only plays back prepared work for the Ralph Fresh sample, and this folder is another project. Choose ${CHOOSE_CLAUDE} to have the work done here.`;

export interface PlaybackOptions extends ToolOptions {
  readonly prompt: string;
  readonly work: PreparedWork;
  readonly children: ChildProcesses;
  /** While this file exists, or in this folder a file named after the story, the story is not ticked. */
  readonly hold?: string;
}

/** Does the work of the story that the prompt names. */
export class Playback {
  readonly #options: PlaybackOptions;
  readonly #tools: Tools;
  readonly #commits: Commits;
  #runner: TestRunner | undefined;

  constructor(options: PlaybackOptions) {
    this.#options = options;
    this.#tools = new Tools(options);
    this.#commits = new Commits(this.#tools, options.children, options.signal);
  }

  /**
   * @returns the final text
   * @throws {NeedsHuman | PlaybackFailed} if the story could not be completed
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
    const prdText = await this.#tools.read(PRD_FILE);
    const prd = parsePrd(prdText);
    if (!prd) {
      throw new NeedsHuman(
        `${PRD_FILE} is not a list of user stories in JSON. Fix the file and run again.`,
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

    await this.#tools.say(story.opening);
    for (const commit of story.commits) {
      // An interrupted iteration may have left tests of the next commit, for which there is no code yet. Therefore
      // an earlier commit is not verified again, only the last one, before the story is ticked.
      if (commit !== story.commits.at(-1) && (await this.#commits.isCommitted(commit.message))) {
        await this.#tools.say(`"${commit.message}" is already committed. I continue from there.`);
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
      const text = await readIfThere(this.#tools.absolute('package.json'));
      name = Package.parse(JSON.parse(text ?? '')).name;
    } catch {
      // An unreadable file is treated like a missing one.
    }
    if (name !== SAMPLE_NAME) {
      throw new NeedsHuman(FOREIGN);
    }
  }

  async #requireStoryFile(): Promise<void> {
    if ((await readIfThere(this.#tools.absolute(PRD_FILE))) === undefined) {
      throw new NeedsHuman(FOREIGN);
    }
  }

  /** Always returns the same plan, whatever the task: only the sample's stories can be played back. */
  async #plan(): Promise<string> {
    await this.#requireSample().catch((error: Error) => {
      // Nobody answers a planner's questions.
      throw new PlaybackFailed(error.message);
    });
    await this.#tools.say(
      'I look at the project, and cut the work into stories that one agent can finish.',
    );
    return `The demo agent has one plan, that of the sample.\n\n\`\`\`json\n${this.#options.work.plan.trimEnd()}\n\`\`\``;
  }

  async #requireRepository(): Promise<void> {
    // Empty at the root of a work tree; a sample inside another repository must not commit to it.
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
    await this.#tools.bash('git status --short --branch', () =>
      this.#options.children.run('git', ['status', '--short', '--branch']),
    );
  }

  /** Checks all files of a story before writing the first one, so that a refusal changes nothing. */
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
          await readIfThere(this.#tools.absolute(file)),
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
      const content = await readIfThere(this.#tools.absolute(file));
      if (this.#options.work.standing(commit, file, content) !== 'present') {
        missing.add(file);
      }
    }
    if (missing.size === 0) {
      await this.#tools.say(`The files for "${commit.message}" are there already. I check them.`);
      await this.#testGreen();
    } else {
      for (const step of commit.steps) {
        if ('say' in step) {
          await this.#tools.say(step.say);
        } else if ('read' in step) {
          await this.#tools.read(step.read);
        } else if ('write' in step) {
          if (missing.has(step.write)) {
            await this.#tools.write(step.write, commit.files.get(step.write) ?? '');
          }
        } else if (step.test === 'red') {
          const { passed } = await this.#test();
          await this.#tools.say(passed ? 'These tests pass already.' : step.failed);
        } else {
          await this.#testGreen();
        }
      }
    }
    await this.#commits.commit(commit.message, [...commit.files.keys()]);
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
    const exit = await this.#tools.bash('node --test', () => runner.run());
    // A test runner that finds no test files also exits with 0.
    const count = Number(/^\u2139 tests (\d+)$/m.exec(exit.stdout)?.[1] ?? 0);
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
    await this.#tools.say(`All ${count} tests pass.`);
  }

  async #recordProgress(story: PreparedStory): Promise<void> {
    const before = (await readIfThere(this.#tools.absolute(PROGRESS_FILE))) ?? '';
    const files = [...new Set(story.commits.flatMap(commit => [...commit.files.keys()]))];
    const after = addProgress(before, { ...story, files }, new Date());
    if (after !== before) {
      await this.#tools.write(PROGRESS_FILE, after);
    }
  }

  /** The story is ticked last, and the tick is undone if it cannot be committed. */
  async #tick(story: PreparedStory): Promise<Prd> {
    await this.#tools.pause();
    const before = await this.#tools.contentOf(PRD_FILE);
    const ticked = setPasses(before, story.id, true);
    if (ticked === undefined) {
      if (parsePrd(before)?.userStories.some(({ id, passes }) => id === story.id && passes)) {
        return this.#currentPrd();
      }
      throw new NeedsHuman(
        `${story.id} is finished, but ${PRD_FILE} has no "passes" for it to set. Fix the file and run again.`,
      );
    }
    await this.#tools.write(PRD_FILE, ticked, story.id);
    try {
      await this.#commits.commit(
        `chore: mark ${story.id} as done`,
        await this.#commits.notIgnored([PROGRESS_FILE, PRD_FILE]),
      );
    } catch (error) {
      if (
        error instanceof PlaybackFailed &&
        (await readIfThere(this.#tools.absolute(PRD_FILE))) === ticked
      ) {
        await this.#tools.write(PRD_FILE, before, story.id);
      }
      throw error;
    }
    return this.#currentPrd();
  }

  async #hold(storyId: string): Promise<void> {
    const file = holdFileOf(this.#options.hold, storyId);
    if (file !== undefined) {
      await this.#tools.say(
        `I wait before I mark the story as done, until the file that holds me is gone.`,
      );
      await gone(file, this.#options.signal);
    }
  }

  async #currentPrd(): Promise<Prd> {
    return parsePrd(await this.#tools.contentOf(PRD_FILE)) ?? { userStories: [] };
  }
}

/** The promise depends on the story file, not on the played-back work. */
function withPromise(text: string, prd: Prd): string {
  const { userStories } = prd;
  return userStories.length > 0 && userStories.every(story => story.passes)
    ? `${text}\n\nAll ${userStories.length} stories are done.\n\n<promise>TASK_COMPLETE</promise>`
    : text;
}
