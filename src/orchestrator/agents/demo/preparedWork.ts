import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';

const Step = z.union([
  z.strictObject({ say: z.string() }),
  z.strictObject({ read: z.string() }),
  z.strictObject({ write: z.string() }),
  /** Run before the code is written; prints `failed` if the new tests fail, as they should. */
  z.strictObject({ test: z.literal('red'), failed: z.string() }),
  z.strictObject({ test: z.literal('green') }),
]);

const StoryScript = z.strictObject({
  id: z.string(),
  title: z.string(),
  opening: z.string(),
  commits: z.array(z.strictObject({ message: z.string(), steps: z.array(Step) })),
  done: z.string(),
  patterns: z.array(z.string()),
  learnings: z.array(z.string()),
});

const StartHashes = z.record(z.string(), z.string());

export interface PreparedCommit {
  readonly message: string;
  readonly steps: readonly z.infer<typeof Step>[];
  /** Contents by path, relative to the project, with `/`. */
  readonly files: ReadonlyMap<string, string>;
}

export interface PreparedStory extends Omit<z.infer<typeof StoryScript>, 'commits'> {
  readonly commits: readonly PreparedCommit[];
}

/**
 * How a project file relates to what a commit will write: `ready` is the version just before, `present` this or a
 * later one, `behind` an older one; `foreign` was written by somebody else.
 */
export type Standing = 'ready' | 'present' | 'behind' | 'foreign';

/** The work folder: what is said, run, written and committed for each story. */
export class PreparedWork {
  readonly stories: readonly PreparedStory[];
  /** The answer to any planning task: a plan of these stories, as JSON. */
  readonly plan: string;
  /** Hashes of a file's versions in commit order; the first is the sample's own. */
  readonly #versions = new Map<string, (string | undefined)[]>();

  private constructor(
    stories: readonly PreparedStory[],
    start: Readonly<Record<string, string>>,
    plan: string,
  ) {
    this.stories = stories;
    this.plan = plan;
    for (const commit of stories.flatMap(story => story.commits)) {
      for (const [file, content] of commit.files) {
        const versions = this.#versions.get(file) ?? [start[file]];
        versions.push(hash(content));
        this.#versions.set(file, versions);
      }
    }
  }

  static async load(folder: string): Promise<PreparedWork> {
    const start = StartHashes.parse(await readJson(path.join(folder, 'start.json')));
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
    const stories = await Promise.all(names.sort().map(name => loadStory(path.join(folder, name))));
    const plan = await readFile(path.join(folder, 'plan.json'), 'utf8');
    return new PreparedWork(stories, start, plan);
  }

  standing(commit: PreparedCommit, file: string, content: string | undefined): Standing {
    const versions = this.#versions.get(file) ?? [];
    const target = versions.indexOf(hash(commit.files.get(file)));
    const current = versions.indexOf(hash(content));
    if (current < 0) {
      return 'foreign';
    }
    if (current >= target) {
      return 'present';
    }
    return current === target - 1 ? 'ready' : 'behind';
  }
}

async function loadStory(folder: string): Promise<PreparedStory> {
  const script = StoryScript.parse(await readJson(path.join(folder, 'story.json')));
  const commits = await Promise.all(
    script.commits.map(async ({ message, steps }, index) => {
      const written = steps.flatMap(step => ('write' in step ? [step.write] : []));
      const contents = await Promise.all(
        written.map(file => readFile(path.join(folder, String(index + 1), file), 'utf8')),
      );
      return {
        message,
        steps,
        files: new Map(written.map((file, i) => [file, contents[i] ?? ''])),
      };
    }),
  );
  return { ...script, commits };
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

/** The same hash for LF and CRLF, because git may have checked the project out with either. */
function hash(content: string | undefined): string | undefined {
  return content === undefined
    ? undefined
    : createHash('sha256').update(content.replaceAll('\r\n', '\n')).digest('hex');
}
