import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach } from 'node:test';
import { ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import { readJournal } from '../../src/orchestrator/journal/journal.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { gitFolder } from './gitFolder.ts';
import type { ScriptedModel } from './scriptedModel.ts';
import { type TodoProject, todoProject } from './todoProject.ts';

const cli = path.resolve(import.meta.dirname, '..', '..', 'dist', 'cli.js');

/**
 * For each test of a suite, a project on which the built command line runs the real Claude Code with a scripted model.
 * @param stories all open
 */
export function claudeProject(
  prefix: string,
  stories: readonly { readonly id: string; readonly title: string }[],
) {
  let claudePath: string;
  let project: TodoProject;
  let env: Record<string, string>;

  before(async () => {
    claudePath = await ensureClaudeCode(line => console.error(line));
  });
  beforeEach(async () => {
    env = {};
    project = await todoProject(prefix, stories);
  });
  afterEach(() => project.temp.remove());

  const files = () => new RunFiles(project.folder);
  const runId = async () => (await readdir(files().runsDir))[0] ?? '';

  async function command(model: ScriptedModel, ...args: readonly string[]) {
    const child = spawn(process.execPath, [cli, ...args, `--cwd=${project.folder}`], {
      env: model.env(project.home, { CLAUDE_CODE_MAX_RETRIES: '1', ...env }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', chunk => chunks.push(chunk));
    const [code] = await once(child, 'close');
    return { code, stdout: Buffer.concat(chunks).toString('utf8') };
  }

  async function run(model: ScriptedModel, ...args: readonly string[]) {
    const finished = await command(model, 'run', `--claude-path=${claudePath}`, ...args);
    return { ...finished, events: await readJournal(files().journalFile(await runId())) };
  }

  const { git } = gitFolder(() => project);

  return {
    /** Absolute path of the repository. */
    folder: () => project.folder,
    /** Absolute path of the home that its commands have. */
    home: () => project.home,
    /** Added to the environment of its commands. */
    env: () => env,
    files,
    /** Id of the only run. */
    runId,
    git,
    /** The prompt of an iteration, as it was written. */
    prompt: async (iteration: number) =>
      readFile(path.join(files().iterationDir(await runId(), iteration), 'prompt.md'), 'utf8'),
    /** Runs `ralph-fresh` with these arguments to its end. */
    command,
    /** The same for `ralph-fresh run`, with the events of its journal. */
    run,
  };
}
