import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Step, Workspace } from './ralph.ts';
import type { Scenario } from './scenario.ts';
import { create, RUN, scripted } from './scenario.ts';
import {
  asks,
  claims,
  failed,
  idle,
  initWith,
  needs,
  planned,
  toolCalls,
  verdict,
  wroteSome,
} from './scenarioSteps.ts';

/** Runs without any action of a person: they depend only on their agents, checks and limits. */
export const AGENT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  severalStories: scripted(3, [['work']]),
  twoChecksGreen: scripted(1, [['work']], '--verify', 'echo one', '--verify', 'echo two'),
  firstCheckRed: scripted(
    1,
    [['work'], [{ write: ['green', ''] }, 'work']],
    ...['--verify', needs('green'), '--verify', 'echo two'],
  ),
  secondCheckRed: scripted(
    1,
    [['work'], [{ write: ['green', ''] }, 'work']],
    ...['--verify', 'echo one', '--verify', needs('green')],
  ),
  stuck: scripted(1, [idle], '--on-stuck', 'stop', '--stuck-threshold', '2'),
  guard: scripted(2, [[{ remove: 'US-002' }, 'work'], ['work']]),
  retry: scripted(1, [[failed(529, 'Overloaded')], ['work']]),
  limit: scripted(1, [[failed(429, 'Claude usage limit reached.')]], '--on-limit', 'stop'),
  failed: scripted(
    1,
    [[failed(400, 'prompt is too long')]],
    ...['--max-iterations', '2', '--fail-threshold', '2'],
  ),
  review: scripted(
    1,
    [['work'], [verdict(false, ['There is no test.'])], ['work'], [verdict(true, [])]],
    '--reviewer',
  ),
  checksAndReview: scripted(
    1,
    [['work'], [verdict(false, ['There is no test.'])], ['work'], [verdict(true, [])]],
    ...['--reviewer', '--verify', 'echo one', '--verify', 'echo two'],
  ),
  question: scripted(1, [asks]),
  maxIterations: scripted(
    5,
    [['work'], claims('US-002', 0.5), ['work']],
    ...['--budget', '4', '--max-iterations', '3'],
  ),
  budget: async t => {
    const workspace = await create(t, 2);
    const calls = [[initWith('ANTHROPIC_API_KEY'), ...claims('US-001', 0.31)]];
    const env = { ANTHROPIC_API_KEY: 'key', FAKE_AGENT_SCRIPT: JSON.stringify(calls) };
    await workspace.cliWith(env, ...RUN, '--budget', '0.3').finished;
    return workspace;
  },
  notStarted: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--command', await broken(workspace)).finished;
    return workspace;
  },
  startedLater: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--command', await broken(workspace)).finished;
    await workspace.script([['work']], '--resume').finished;
    return workspace;
  },
  freeTask: async t => {
    const workspace = await Workspace.create(t, { stories: undefined, hasPointers: true });
    const costs = { total_cost_usd: null, usage: null };
    const calls = [
      [...wroteSome.slice(0, -1), { result: ['More is to be done.', costs] }],
      [{ commit: 'feat: all' }, { result: ['<promise>DONE</promise>', costs] }],
    ];
    await workspace.script(calls, 'Make it work', '--completion-promise', 'DONE').finished;
    return workspace;
  },
  timeLimit: scripted(1, [['stay']], '--time-limit', '0.02', '--max-iterations', '1'),
  exitCode: scripted(
    1,
    [[{ stderr: 'Out of order' }, { exit: 3 }]],
    ...['--retry-attempts', '0', '--max-iterations', '1'],
  ),
  blocked: scripted(1, [[{ result: ['<promise>TASK BLOCKED: No key</promise>'] }]]),
  refusedPromise: scripted(
    1,
    [[{ result: ['<promise>DONE</promise>'] }], ['work']],
    ...['--completion-promise', 'DONE'],
  ),
  reviewRetried: scripted(
    1,
    [['work'], [failed(529, 'Overloaded')], [verdict(true, [])]],
    '--reviewer',
  ),
  manyObjections: scripted(
    1,
    [
      ['work'],
      [
        verdict(
          false,
          Array.from({ length: 40 }, (_, index) => `${index}\nsecond line`),
        ),
      ],
      ['work'],
      [verdict(true, [])],
    ],
    '--reviewer',
  ),
  guardTicks: scripted(3, [
    [{ tick: 'US-002' }, { remove: 'US-003' }, 'work'],
    [{ delete: '.omc/prd.json' }, { commit: 'wip: nothing' }, { result: ['Gone.'] }],
    ['work'],
  ]),
  checkOutput: scripted(
    1,
    [
      [{ write: ['check.sh', 'for n in $(seq 0 299); do echo "line $n"; done; exit 1\n'] }, 'work'],
      [
        {
          write: [
            'check.sh',
            `printf '\\033[2J\\033]0;title\\007'; printf 'x%.0s' $(seq 3000); exit 1\n`,
          ],
        },
        'work',
      ],
      [{ write: ['check.sh', 'echo much\n'] }, 'work'],
    ],
    ...['--verify', 'sh check.sh'],
  ),
  stuckSkipped: scripted(
    2,
    [idle, idle, ['work']],
    ...['--on-stuck', 'skip', '--stuck-threshold', '1'],
  ),
  stuckLater: scripted(
    2,
    [idle, idle, idle, ['work'], wroteSome, ['work']],
    ...['--stuck-threshold', '1'],
  ),
  planned: async t => {
    const workspace = await Workspace.create(t, { stories: undefined, hasPointers: true });
    await workspace.script([[planned(2)], ['work']], '--prd', 'Build it').finished;
    return workspace;
  },
  demo: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--agent', 'demo', '--max-iterations', '1').finished;
    return workspace;
  },
  replaced: async t => {
    const workspace = await create(t, 1);
    await cp(
      path.resolve(import.meta.dirname, 'fakeSdk'),
      path.join(workspace.folder, 'node_modules/@anthropic-ai/claude-agent-sdk'),
      { recursive: true },
    );
    await workspace.write('.gitignore', 'node_modules\n');
    // It exists, but the system refuses to start it.
    const program = path.join(workspace.folder, 'no-program');
    await workspace.write('no-program', '#!/no/such/interpreter\n');
    await chmod(program, 0o755);
    await workspace.cli('run', '--claude-path', program).finished;
    return workspace;
  },
  chosenStory: scripted(2, [['work']], '--story', 'US-002'),
  putAside: async t => {
    const workspace = await Workspace.create(t, { stories: undefined, hasPointers: true });
    const issues = ['open', 'tombstone'].map((status, at) =>
      JSON.stringify({ id: `is-${at + 1}`, title: `Issue ${at + 1}`, status }),
    );
    await mkdir(path.join(workspace.folder, '.beads'));
    await workspace.write('.beads/issues.jsonl', `${issues.join('\n')}\n`);
    const close: Step = { shell: 'sed -i s/open/closed/ .beads/issues.jsonl' };
    const calls = [[close, { commit: 'feat: is-1' }, { result: ['Done.'] }]];
    await workspace.script(calls, '--file', '.beads/issues.jsonl').finished;
    return workspace;
  },
  tools: scripted(1, [[...toolCalls, 'work']]),
};

/** A program that is there, so the run starts, and that the system cannot start. */
async function broken({ notesDir }: Workspace): Promise<string> {
  const file = path.join(notesDir, 'agent');
  await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 });
  return file;
}
