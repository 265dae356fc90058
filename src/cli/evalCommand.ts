import { statSync } from 'node:fs';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import { type EngineResult, evaluate } from '../orchestrator/context/evaluation/evaluate.ts';
import { type PromptShare, promptShare } from '../orchestrator/context/evaluation/promptShare.ts';
import { replayOf } from '../orchestrator/context/evaluation/replay.ts';
import { gitResult } from '../orchestrator/git/runGit.ts';
import { codeSection } from '../orchestrator/iteration/prompt/codeSection.ts';
import { estimateTokens } from '../orchestrator/iteration/prompt/tokens.ts';
import { DEFAULT_CONFIG } from '../orchestrator/settings/config.ts';
import { count } from './arguments.ts';
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
}

/** `ralph-fresh eval context`: how well the files of past commits are found from their subjects. */
export function addEvalCommand(program: Command): void {
  program
    .command('eval')
    .description('measure how good Ralph Fresh is on a repository')
    .command('context')
    .description(
      'replay past commits: how many of the files they changed are found from their subjects',
    )
    .addOption(
      new Option('--repo <dir>', 'a git repository, also a bare one')
        .default(process.cwd(), 'this folder')
        .argParser(repository),
    )
    .addOption(
      new Option('--commits <n>', 'how many of the newest commits are replayed')
        .default(DEFAULT_COMMITS)
        .argParser(count),
    )
    .option('--json', 'as data: commits, engines, prompt (docs/json-output.md)')
    .action(evalContext);
}

function repository(value: string): string {
  const dir = path.resolve(value);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(say('There is no folder {0}. Name an existing one with --repo.', dir));
  }
  return dir;
}

async function evalContext({ commits, json, repo }: EvalFlags): Promise<void> {
  const { code } = await gitResult(repo, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (code !== 0) {
    throw new HumanError(
      say('{0} is not a git repository with commits. Name one with --repo.', repo),
    );
  }
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
  print(table(engines));
  print(inPrompts(prompt));
}

function inPrompts({ found, listed, tokens }: PromptShare): string {
  return `\nThe prompts would have named ${percent(found)} of the files that these commits changed, in ${tokens} tokens.\nA list of the repository's files, cut after as many tokens, has ${percent(listed)} of them.`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function table(engines: readonly EngineResult[]): string {
  const rows = [
    ['', 'hit@10', 'recall@10', 'recall@20', 'MRR', 'seconds'],
    ...engines.map(({ hit10, mrr, name, recall10, recall20, seconds }) => [
      ENGINES[name] ?? name,
      percent(hit10),
      percent(recall10),
      percent(recall20),
      mrr.toFixed(2),
      seconds.toFixed(1),
    ]),
  ];
  const [first = 0, ...others] = [0, 1, 2, 3, 4, 5].map(column =>
    Math.max(...rows.map(row => row[column]?.length ?? 0)),
  );
  return rows
    .map(([name = '', ...values]) =>
      [name.padEnd(first), ...values.map((value, i) => value.padStart(others[i] ?? 0))].join('  '),
    )
    .join('\n');
}
