import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../../base/humanError.ts';
import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { findProgram } from '../../process/findProgram.ts';
import { runProgram } from '../../process/runProgram.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** In ms. A database that another `bd` holds makes this one wait. */
const TIME_LIMIT_MS = 60_000;
const MAX_OUTPUT = 4 * 1024 * 1024;
/** Of a message of `bd`, in UTF-16 units. */
const MAX_MESSAGE = 300;
/** Where the database is and who works on it is decided by the folder, not by a session around us. */
const NOT_PASSED_ON = new Set(['BEADS_DIR', 'BEADS_DB', 'BD_DB', 'GIT_DIR', 'GIT_WORK_TREE']);

/** It did not answer: asked again at once, it would not answer either. */
export class BdTimeout extends HumanError {}

/** How the program may be run. */
export interface BdOptions {
  readonly env: Environment;
  /** Ends a call. */
  readonly signal?: AbortSignal | undefined;
  readonly timeLimitMs?: number | undefined;
}

const issueSchema = once(() =>
  z.looseObject({
    id: z.string(),
    status: z.string().optional(),
    description: z.string().optional(),
  }),
);

/** From bd 2.0 on, JSON is in it; before, with `BD_JSON_ENVELOPE=1`. */
const envelopeSchema = once(() =>
  z.object({
    schema_version: z.number(),
    data: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]),
  }),
);
const errorSchema = once(() => z.object({ error: z.string() }));
/** With its indented lines. It may precede the reason for a failure. */
const WARNING = /^(?:warning|note):.*\n(?:[ \t].*\n)*/gim;

/** An issue to create. */
export interface NewIssue {
  readonly title: string;
  readonly description?: string;
  /** 0 is the most urgent. */
  readonly priority?: number;
  /** Id of the issue during whose work it was found. */
  readonly discoveredFrom?: string;
}

/**
 * The program of Beads, which owns the database of a folder. Every call is one process without a shell; a text is an
 * argument of its own.
 */
export class Bd {
  private readonly program: string;
  /** The folder that has `.beads`. */
  private readonly dir: string;
  private readonly options: BdOptions;

  private constructor(program: string, dir: string, options: BdOptions) {
    this.program = program;
    this.dir = dir;
    this.options = options;
  }

  /** @returns `undefined` if it is not installed. @param storyFile absolute path of a file in `.beads` */
  static async find(storyFile: string, options: BdOptions): Promise<Bd | undefined> {
    const { env } = options;
    const program = await findProgram('bd', {
      env,
      home: env['HOME'] ?? env['USERPROFILE'] ?? homedir(),
      platform: process.platform,
    });
    return program === undefined
      ? undefined
      : new Bd(program, path.dirname(path.dirname(storyFile)), options);
  }

  /** @throws {HumanError} if `bd` does not know the issue */
  async isClosed(id: string): Promise<boolean> {
    const shown = await this.run(['show', requireId(id), '--json']);
    const parsed = z.union([z.array(issueSchema()), issueSchema()]).safeParse(answerIn(shown));
    const issues = parsed.success ? [parsed.data].flat() : [];
    const issue = issues.find(one => one.id === id);
    if (issue === undefined) {
      throw new HumanError(
        say(
          '"bd show {0}" did not say what the issue is. Look at it in {1}: bd show {0}',
          id,
          this.dir,
        ),
      );
    }
    return issue.status === 'closed';
  }

  /**
   * Looks at it afterwards: an import of an old file can open it again while `bd` reports success.
   * @throws {HumanError} with what `bd` says, for example that the issue has open parts
   */
  async close(id: string, reason: string): Promise<void> {
    await this.run(['close', requireId(id), '--reason', reason]);
    if (!(await this.isClosed(id))) {
      throw new HumanError(
        say(
          '"bd close" has succeeded, but {0} is still open. Look at it in {1}: bd show {0}',
          id,
          this.dir,
        ),
      );
    }
  }

  /** @throws {HumanError} with what `bd` says */
  async reopen(id: string): Promise<void> {
    await this.run(['reopen', requireId(id)]);
  }

  /** @returns its id. @throws {HumanError} with what `bd` says */
  async create({ description, discoveredFrom, priority, title }: NewIssue): Promise<string> {
    const args = [
      ...['create', `--title=${title}`, '--type=task', '--json'],
      ...(description === undefined ? [] : [`--description=${description}`]),
      ...(priority === undefined ? [] : [`--priority=${priority}`]),
      ...(discoveredFrom === undefined
        ? []
        : [`--deps=discovered-from:${requireId(discoveredFrom)}`]),
    ];
    const created = z
      .union([issueSchema(), z.array(issueSchema()).min(1)])
      .safeParse(answerIn(await this.run(args)));
    const [issue] = created.success ? [created.data].flat() : [];
    if (issue === undefined) {
      throw new HumanError(
        say('"bd create" did not say which id the new issue has. Look for it: bd list'),
      );
    }
    return issue.id;
  }

  /**
   * Looks through all issues, closed ones too, for one with this line in its description. They are exported to a
   * folder of their own: an export to the story file would replace what only that file has.
   * @returns its id. @throws {HumanError} with what `bd` says
   */
  async findNoted(line: string): Promise<string | undefined> {
    const dir = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-beads-'));
    try {
      const file = path.join(dir, 'issues.jsonl');
      await this.run(['export', '-o', file]);
      const exported = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') {
          throw new HumanError(
            say(
              '"bd export" wrote no file. Try it, and bring bd up to date: bd export -o all.jsonl',
            ),
          );
        }
        throw error;
      });
      const issues = exported.split('\n').map(parseJson);
      return issues
        .map(issue => issueSchema().safeParse(issue).data)
        .find(issue => issue?.description?.split(/\r?\n/).includes(line))?.id;
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  private async run(args: readonly string[]): Promise<string> {
    const { env, signal, timeLimitMs = TIME_LIMIT_MS } = this.options;
    const names = Object.entries(env).filter(([name]) => !NOT_PASSED_ON.has(name));
    const result = await runProgram(this.program, args, {
      cwd: this.dir,
      env: Object.fromEntries(names),
      timeLimitMs,
      signal,
      maxBuffer: MAX_OUTPUT,
    });
    const [command = ''] = args;
    if (result.timedOut) {
      throw new BdTimeout(
        say(
          '"bd {0}" did not answer within {1} seconds, so it was ended. Look whether another bd holds the database.',
          command,
          timeLimitMs / 1_000,
        ),
      );
    }
    if (result.isCanceled) {
      throw new HumanError(say('"bd {0}" was ended, because the run stops.', command));
    }
    if (result.signal !== undefined && !result.isMaxBuffer) {
      throw new HumanError(
        say('"bd {0}" was ended from outside ({1}). Try again.', command, result.signal),
      );
    }
    if (result.failed) {
      const said = reasonIn(`${result.stderr}`, `${result.stdout}`);
      throw new HumanError(
        said === ''
          ? say('"bd {0}" failed with exit code {1}.', command, result.exitCode ?? '?')
          : say('"bd {0}" failed: {1}', command, said),
      );
    }
    return result.stdout;
  }
}

/** @throws {HumanError} if `bd` would take it for an option */
function requireId(id: string): string {
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u.test(id)) {
    throw new HumanError(say('"{0}" is not an id that Beads gives. Correct it in the file.', id));
  }
  return id;
}

/** Why it failed: text or JSON, on either output, and neither depends on `--json`. */
function reasonIn(stderr: string, stdout: string): string {
  const texts = [stderr.replaceAll(WARNING, ''), stdout, stderr].map(text => text.trim());
  const text = texts.find(one => one !== '') ?? '';
  return shorten(errorSchema().safeParse(answerIn(text)).data?.error ?? text, MAX_MESSAGE);
}

function answerIn(text: string): unknown {
  const value = parseJson(text);
  return envelopeSchema().safeParse(value).data?.data ?? value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
