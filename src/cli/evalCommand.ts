import { type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { replayDuplicates } from '../orchestrator/context/evaluation/duplicateReplay.ts';
import { type EngineResult, evaluate } from '../orchestrator/context/evaluation/evaluate.ts';
import { type PromptShare, promptShare } from '../orchestrator/context/evaluation/promptShare.ts';
import { replayOf } from '../orchestrator/context/evaluation/replay.ts';
import { gitResult } from '../orchestrator/git/runGit.ts';
import { codeSection } from '../orchestrator/iteration/prompt/codeSection.ts';
import { estimateTokens } from '../orchestrator/iteration/prompt/tokens.ts';
import { DEFAULT_CONFIG } from '../orchestrator/settings/config.ts';
import { table } from '../presentation/table.ts';
import { count, existingFolder } from './arguments.ts';
import { print, printJson } from './print.ts';

const DEFAULT_COMMITS = 150;
/** What the rows of the table are. */
const ENGINES: Readonly<Record<string, string>> = {
  engine: 'Ralph Fresh',
  mix: 'simple mix',
  bm25: 'BM25 of contents',
  grep: 'keyword grep',
};

interface EvalFlags {
  readonly repo: string;
  readonly commits: number;
  readonly json?: true;
  readonly list?: true;
}

/** `ralph-fresh eval context` and `eval duplicates`: how good the engine is on a repository's own past. */
export function addEvalCommand(program: Command): void {
  const command = program
    .command('eval')
    .description('measure how good Ralph Fresh is on a repository');
  command
    .command('context')
    .description(
      'replay past commits: how many of the files they changed are found from their subjects',
    )
    .addOption(repoOption())
    .addOption(commitsOption())
    .option('--json', 'as data: commits, engines, prompt (docs/json-output.md)')
    .action(evalContext);
  command
    .command('duplicates')
    .description('replay past commits: which of their new functions and files would be reported')
    .addOption(repoOption())
    .addOption(commitsOption())
    .option('--list', 'with each report')
    .option('--json', 'as data: commits, looked, reports (docs/json-output.md)')
    .action(evalDuplicates);
}

function repoOption(): Option {
  return new Option('--repo <dir>', 'a git repository, also a bare one')
    .default(process.cwd(), 'this folder')
    .argParser(value => existingFolder(value, '--repo'));
}

function commitsOption(): Option {
  return new Option('--commits <n>', 'how many of the newest commits are replayed')
    .default(DEFAULT_COMMITS)
    .argParser(count);
}

/** @throws {HumanError} without a commit, nothing can be replayed */
async function requireCommits(repo: string): Promise<void> {
  const { code } = await gitResult(repo, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (code !== 0) {
    throw new HumanError(
      say('{0} is not a git repository with commits. Name one with --repo.', repo),
    );
  }
}

async function evalDuplicates({ commits, json, list, repo }: EvalFlags): Promise<void> {
  await requireCommits(repo);
  const replayed = await replayDuplicates(repo, commits);
  const looked = replayed.reduce((sum, commit) => sum + commit.looked, 0);
  if (replayed.length === 0) {
    throw new HumanError(
      say(
        'The history of {0} is too short: there is no commit with an older one to compare it with. Name another repository with --repo.',
        repo,
      ),
    );
  }
  if (looked === 0) {
    throw new HumanError(
      say(
        'None of the newest {0} commits of {1} added a function or a file that could repeat others. Replay more with --commits.',
        commits,
        repo,
      ),
    );
  }
  const reports = replayed.flatMap(({ duplicates, hash }) =>
    duplicates.map(duplicate => ({ commit: hash, ...duplicate })),
  );
  if (json) {
    printJson({ commits: replayed.length, looked, reports });
    return;
  }
  const concerned = replayed.filter(({ duplicates }) => duplicates.length > 0).length;
  const longest = Math.max(0, ...replayed.map(({ ms }) => ms));
  const share = ((reports.length / looked) * 100).toFixed(1);
  print(
    `${replayed.length === 1 ? '1 commit' : `${replayed.length} commits`}, ${looked} new functions and files, ${reports.length} reports (${share} %) in ${concerned === 1 ? '1 commit' : `${concerned} commits`}. The longest search took ${Math.round(longest)} ms.`,
  );
  for (const { commit, file, kind, line, name, other } of list ? reports : []) {
    print(
      `${commit.slice(0, 10)} ${kind}: ${name} (${file}:${line}) repeats ${other.name} (${other.file}:${other.line})`,
    );
  }
}

async function evalContext({ commits, json, repo }: EvalFlags): Promise<void> {
  await requireCommits(repo);
  const replay = await replayOf(repo, commits);
  if (replay.stories.length === 0) {
    throw new HumanError(
      say(
        'None of the newest {0} commits of {1} changed 1 to 12 source files that existed before. Replay more with --commits.',
        commits,
        repo,
      ),
    );
  }
  const engines = evaluate(replay);
  const prompt = promptShare(
    replay,
    pointers => {
      const { files, text } = codeSection(pointers, DEFAULT_CONFIG.contextTokens);
      return { files, tokens: estimateTokens(text) };
    },
    estimateTokens,
  );
  if (json) {
    printJson({ commits: replay.stories.length, files: replay.files.length, engines, prompt });
    return;
  }
  print(
    `${replay.stories.length} of the newest ${commits} commits, ${replay.files.length} files. The index knows nothing of these commits.\n`,
  );
  print(engineTable(engines));
  print(inPrompts(prompt));
}

function inPrompts({ found, listed, tokens }: PromptShare): string {
  return `\nThe prompts would have named ${percent(found)} of the files that these commits changed, in ${tokens} tokens.\nA list of the repository's files, cut after as many tokens, has ${percent(listed)} of them.`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function engineTable(engines: readonly EngineResult[]): string {
  const headings = ['', 'hit@10', 'recall@10', 'recall@20', 'MRR', 'seconds'];
  const rows = engines.map(({ hit10, mrr, name, recall10, recall20, seconds }) => [
    ENGINES[name] ?? name,
    percent(hit10),
    percent(recall10),
    percent(recall20),
    mrr.toFixed(2),
    seconds.toFixed(1),
  ]);
  return table(headings, rows, new Set([0])).join('\n');
}
