import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf } from '../../src/base/say.ts';
import type {
  CallAgent,
  CallRequest,
  CallResult,
} from '../../src/orchestrator/agents/call/callAgent.ts';
import { readProgressLog } from '../../src/orchestrator/context/progressLog.ts';
import { JournalWriter, readJournal } from '../../src/orchestrator/journal/journal.ts';
import { checkPlan, isBranchName } from '../../src/orchestrator/planner/planDraft.ts';
import { plannedTaskOf } from '../../src/orchestrator/planner/plannedTask.ts';
import { type PlanOptions, planStories } from '../../src/orchestrator/planner/planner.ts';
import { writeTaskStories } from '../../src/orchestrator/planner/taskStories.ts';
import { readStoryFileOrThrow } from '../../src/orchestrator/stories/storyFile.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

const NOW = new Date('2026-01-28T15:14:03.376Z');
const TASK = 'Build a todo API with:\n- create\n- list\n\n```\nand "quotes"\n```';

const story = (change: object = {}) => ({
  id: 'US-001',
  title: 'Create a todo',
  description: 'As a client I want to create a todo.',
  acceptanceCriteria: ['POST /todos answers 201', 'Tests pass'],
  priority: 1,
  passes: false,
  ...change,
});
const second = (change: object = {}) =>
  story({ id: 'US-002', title: 'List todos', priority: 2, dependsOn: ['US-001'], ...change });
const plan = (change: object = {}) => ({
  project: 'Todo API',
  branchName: 'ralph/todo-api',
  description: 'A small HTTP API for todos.',
  userStories: [story(), second()],
  ...change,
});

/** An answer as `call` gives it. */
const structured = (value: unknown, costUsd?: number): CallResult => ({
  text: 'Done.',
  structured: value,
  cancelled: false,
  ...(costUsd === undefined ? {} : { costUsd }),
});
const said = (text: string): CallResult => ({ text, cancelled: false });

let temp: TempDir;
let files: RunFiles;
let storyFile: string;

beforeEach(async () => {
  temp = await tempDir('planner-');
  files = new RunFiles(path.join(temp.path, 'my projeçt'));
  storyFile = path.join(files.workspace, '.omc', 'prd.json');
  await mkdir(path.dirname(storyFile), { recursive: true });
});
afterEach(() => temp.remove());

const progressFile = () => path.join(path.dirname(storyFile), 'progress.txt');
const inWorkspace = (file: string) => path.join(files.workspace, file);
const read = (file: string) => readFile(file, 'utf8');
const archives = async () =>
  existsSync(inWorkspace('.omc/archive')) ? readdir(inWorkspace('.omc/archive')) : [];

/** Answers in this order, and what it was asked. */
function scripted(...answers: (CallResult | (() => Promise<CallResult>))[]) {
  const requests: CallRequest[] = [];
  const call: CallAgent = async request => {
    const answer = answers[requests.length];
    requests.push(request);
    assert.ok(answer, 'no further call was expected');
    return typeof answer === 'function' ? answer() : answer;
  };
  return { call, requests };
}

describe('planStories', () => {
  let journal: JournalWriter;
  const journalFile = () => files.journalFile('run-1');

  beforeEach(async () => {
    journal = await JournalWriter.open(journalFile());
  });
  afterEach(() => journal.close());

  const planned = (call: CallAgent, change: Partial<PlanOptions> = {}) =>
    planStories({ task: TASK, files, storyFile, call, journal, now: NOW, ...change });

  test('a valid plan becomes the story file and a new progress log', async () => {
    const { call, requests } = scripted(structured(plan(), 0.25));
    sameValue(await planned(call), { kind: 'planned', stories: 2, attempts: 1 });

    const file = await readStoryFileOrThrow(storyFile);
    assert.ok(file.kind === 'stories');
    sameValue(file.problems, []);
    sameValue(
      file.stories.map(({ id, done, dependsOn }) => [id, done, dependsOn]),
      [
        ['US-001', false, []],
        ['US-002', false, ['US-001']],
      ],
    );
    assert.equal(file.branchName, 'ralph/todo-api');
    assert.equal(plannedTaskOf(await read(storyFile)), TASK);

    assert.match(await read(progressFile()), /^# Ralph Progress Log\n\nStarted: 2026-01-28T15:14/);
    assert.match(await read(progressFile()), /^## Codebase Patterns$/m);
    const { patterns, learnings } = await readProgressLog(progressFile());
    sameValue({ patterns, learnings }, { patterns: [], learnings: [] });

    const [{ prompt, name, tools, allowedTools, jsonSchema } = assert.fail()] = requests;
    assert.equal(name, 'plan-1');
    sameValue(tools, ['Read', 'Glob', 'Grep']);
    sameValue(allowedTools, tools);
    assert.ok(jsonSchema && !('$schema' in jsonSchema));
    assert.ok(prompt.includes(TASK));
    assert.ok(prompt.includes('.omc/prd.json'));

    const events = await readJournal(journalFile());
    sameValue(
      events.map(({ seq, at, ...event }) => event),
      [
        {
          type: 'plan.written',
          storyFile: '.omc/prd.json',
          stories: 2,
          attempts: 1,
          costUsd: 0.25,
        },
      ],
    );
    sameValue(await archives(), []);
    assert.equal(existsSync(inWorkspace('.omc/state/plan/prd.json')), false);
  });

  test('the last JSON block of the answer is used if there is no structured output', async () => {
    const example = '```json\n{"project": "only an example"}\n```';
    const answer = `I looked at it. A plan looks like\n${example}\nHere is mine:\n\n\`\`\`json\n${JSON.stringify(plan({ description: 'Run ```npm test```.' }), null, 2)}\n\`\`\`\nGood luck with { this }!`;
    assert.equal((await planned(scripted(said(answer)).call)).kind, 'planned');
    assert.match(await read(storyFile), /Run ```npm test```\./);
  });

  test('bare JSON inside text is found', async () => {
    const answer = said(`The plan: ${JSON.stringify(plan())} That is all.`);
    assert.equal((await planned(scripted(answer).call)).kind, 'planned');
  });

  test('the next prompt names the problems of a draft and refers to the draft', async () => {
    const draftFile = inWorkspace('.omc/state/plan/prd.json');
    const bad = plan({ userStories: [story(), second({ dependsOn: ['US-007'] })] });
    const { call, requests } = scripted(structured(bad, 0.5), said('Sorry, no.'), async () => {
      sameValue(JSON.parse(await read(draftFile)), bad);
      return structured(plan(), 0.25);
    });
    sameValue(await planned(call), { kind: 'planned', stories: 2, attempts: 3 });
    sameValue(
      requests.map(({ name }) => name),
      ['plan-1', 'plan-2', 'plan-3'],
    );
    assert.match(requests[1]?.prompt ?? '', /US-007/);
    assert.match(requests[1]?.prompt ?? '', /\.omc\/state\/plan\/prd\.json/);
    assert.match(requests[2]?.prompt ?? '', /no JSON object[\s\S]*US-007/);
    const events = await readJournal(journalFile());
    sameValue(
      events.map(event => [event.type, 'attempt' in event ? event.attempt : undefined]),
      [
        ['plan.refused', 1],
        ['plan.refused', 2],
        ['plan.written', undefined],
      ],
    );
    assert.ok(events[2]?.type === 'plan.written' && events[2].costUsd === 0.75);
  });

  test('after two repairs it gives up and leaves existing files unchanged', async () => {
    await writeFile(storyFile, '{"userStories": [{"id": "A", "passes": false}]}');
    await writeFile(progressFile(), 'learned much');
    const bad = structured(plan({ userStories: [] }));
    const result = await planned(scripted(bad, bad, bad).call);
    assert.ok(result.kind === 'failed');
    assert.match(englishOf(result.message), /userStories/);
    assert.match(englishOf(result.message), /\.omc\/state\/plan\/prd\.json/);
    assert.equal(await read(storyFile), '{"userStories": [{"id": "A", "passes": false}]}');
    assert.equal(await read(progressFile()), 'learned much');
    sameValue(await archives(), []);
    assert.equal((await readJournal(journalFile())).length, 3);
  });

  test('a draft of an earlier plan is never reused', async () => {
    const bad = structured(plan({ userStories: [] }));
    await planned(scripted(bad, bad, bad).call);
    const { call, requests } = scripted(said('Nothing.'), structured(plan()));
    assert.equal((await planned(call)).kind, 'planned');
    assert.ok(!requests[1]?.prompt.includes('.omc/state/plan/prd.json'));
  });

  test('existing stories are archived byte for byte, and no archive is overwritten', async () => {
    const old = '\uFEFF{\r\n "branchName": "ralph/Größe & Gewicht", "userStories": []\r\n}';
    for (const [n, name] of ['grosse', 'grosse-2'].entries()) {
      const expected = `2026-01-28-151403-${name.replace('grosse', 'gro-e-gewicht')}`;
      await writeFile(storyFile, old);
      await writeFile(progressFile(), `learned ${n}`);
      const result = await planned(scripted(structured(plan())).call);
      assert.ok(result.kind === 'planned');
      assert.equal(result.archived, `.omc/archive/${expected}`);
      assert.equal(await read(inWorkspace(`${result.archived}/prd.json`)), old);
      assert.equal(await read(inWorkspace(`${result.archived}/progress.txt`)), `learned ${n}`);
    }
    assert.equal((await archives()).length, 2);
    const written = (await readJournal(journalFile()))[0];
    assert.ok(written?.type === 'plan.written' && written.archived?.startsWith('.omc/archive/'));
  });

  test('a broken story file or a lone log is also archived', async () => {
    await writeFile(storyFile, '{ broken');
    await planned(scripted(structured(plan())).call);
    sameValue(await archives(), ['2026-01-28-151403-stories']);
    assert.equal(
      await read(inWorkspace('.omc/archive/2026-01-28-151403-stories/prd.json')),
      '{ broken',
    );

    const elsewhere = path.join(files.workspace, 'tasks', 'prd.json');
    await mkdir(path.dirname(elsewhere));
    await writeFile(path.join(files.workspace, 'tasks', 'progress.txt'), 'only a log');
    const result = await planned(scripted(structured(plan())).call, { storyFile: elsewhere });
    assert.ok(result.kind === 'planned');
    assert.equal(result.archived, '.omc/archive/2026-01-28-151403-stories-2');
    assert.equal(await read(inWorkspace(`${result.archived}/progress.txt`)), 'only a log');
  });

  test('a stop or a failed call changes nothing', async () => {
    await writeFile(storyFile, '{"userStories": []}');
    const cancelled: CallResult = { text: '', cancelled: true };
    sameValue(await planned(scripted(cancelled).call), { kind: 'cancelled' });
    const error = { kind: 'billing', message: 'Credit balance is too low' };
    const result = await planned(scripted({ text: '', cancelled: false, error }).call);
    assert.ok(result.kind === 'failed');
    assert.match(englishOf(result.message), /Credit balance is too low\. Add credit/);
    assert.equal(await read(storyFile), '{"userStories": []}');
    sameValue(await readJournal(journalFile()), []);
  });

  test('an unwritable place is refused before any call', async () => {
    const nobody = scripted().call;
    const outside = path.join(temp.path, 'outside.json');
    await writeFile(outside, '{"userStories": []}');
    await symlink(outside, storyFile);
    await assert.rejects(planned(nobody), /is a link/);
    assert.equal(await read(outside), '{"userStories": []}');
    await assert.rejects(
      planned(nobody, { storyFile: path.join(files.workspace, 'plan.md') }),
      HumanError,
    );
    await mkdir(path.join(files.workspace, 'dir.json'));
    await assert.rejects(
      planned(nobody, { storyFile: path.join(files.workspace, 'dir.json') }),
      /is not a file/,
    );
    await mkdir(files.stateDir, { recursive: true });
    await symlink(temp.path, path.join(files.stateDir, 'plan'));
    await assert.rejects(
      planned(nobody, { storyFile: path.join(files.workspace, 'prd.json') }),
      /is a link/,
    );
  });
});

describe('checkPlan', () => {
  const wrong: [string, object, RegExp][] = [
    ['no project', plan({ project: undefined }), /^project: /],
    ['an empty description', plan({ description: ' ' }), /^description: /],
    ['a branch git refuses', plan({ branchName: 'a..b' }), /^branchName: is no valid name/],
    ['no stories', plan({ userStories: [] }), /^userStories: /],
    ['an id of another shape', plan({ userStories: [story({ id: 'one' })] }), /US-001/],
    ['an id twice', plan({ userStories: [story(), story()] }), /already used/],
    ['no title', plan({ userStories: [story({ title: '' })] }), /^userStories\[0\]\.title: /],
    ['a title of two lines', plan({ userStories: [story({ title: 'a\nb' })] }), /one line/],
    ['a huge title', plan({ userStories: [story({ title: 'a'.repeat(201) })] }), /title/],
    ['no criteria', plan({ userStories: [story({ acceptanceCriteria: [] })] }), /Criteria/],
    ['an empty criterion', plan({ userStories: [story({ acceptanceCriteria: [''] })] }), /\[0\]/],
    ['half a priority', plan({ userStories: [story({ priority: 1.5 })] }), /priority/],
    ['a priority in words', plan({ userStories: [story({ priority: 'high' })] }), /priority/],
    ['done already', plan({ userStories: [story({ passes: true })] }), /passes: must be false/],
    ['unknown stories', plan({ userStories: [story({ dependsOn: ['US-9'] })] }), /US-9/],
    ['unknown in words', plan({ userStories: [story({ depends_on: ['US-9'] })] }), /US-9/],
    [
      'a circle',
      plan({ userStories: [story({ dependsOn: ['US-002'] }), second()] }),
      /wait for each other/,
    ],
    [
      'too many stories',
      plan({
        userStories: Array.from({ length: 101 }, (_, n) => story({ id: `US-${n}` })),
      }),
      /userStories/,
    ],
  ];
  for (const [what, draft, problem] of wrong) {
    test(`refuses ${what}`, () => {
      const { problems } = checkPlan(draft, TASK);
      assert.ok(
        problems?.some(text => problem.test(englishOf(text))),
        JSON.stringify(problems),
      );
    });
  }

  test('reports every problem, up to a limit', () => {
    const userStories = Array.from({ length: 100 }, () => ({ id: 7 }));
    const { problems = [] } = checkPlan(plan({ userStories }), TASK);
    assert.equal(problems.length, 21);
    assert.match(englishOf(problems.at(-1) ?? ''), /more problems/);
  });

  test('keeps extra fields of the agent, but not its own version of the task', () => {
    const checked = checkPlan(
      plan({ originalTask: 'Another', risks: ['none'], userStories: [story({ notes: 'n' })] }),
      TASK,
    );
    assert.ok(checked.problems === undefined);
    const root = JSON.parse(checked.text);
    assert.equal(root.originalTask, TASK);
    sameValue(root.risks, ['none']);
    assert.equal(root.userStories[0].notes, 'n');
  });

  test("reports git's message about a branch name", async () => {
    const names = [
      'main',
      'ralph/todo-api',
      'ü/ö',
      'a b',
      'a..b',
      '.a',
      'a/.b',
      'a.lock',
      'a.lock/b',
      'a.',
      'a./b',
      '/a',
      'a/',
      'a//b',
      '-a',
      'a-',
      'a~1',
      'a^',
      'a:b',
      'a?',
      'a*',
      'a[b',
      'a\\b',
      'a@{b',
      'a@b',
      'HEAD',
      'a\u007fb',
      'a\tb',
      "a'b;$(x)",
    ];
    const env = cleanEnv({ home: temp.path });
    for (const name of names) {
      const valid = await new Promise<boolean>(resolve => {
        execFile('git', ['check-ref-format', '--branch', name], { env, cwd: temp.path }, error =>
          resolve(error === null),
        );
      });
      assert.equal(isBranchName(name), valid, name);
    }
    // As a name of a branch git takes it for HEAD.
    assert.equal(isBranchName('@'), false);
    assert.equal(isBranchName(''), false);
  });
});

test('plannedTaskOf returns the original task of a plan', () => {
  assert.equal(plannedTaskOf('\uFEFF{"originalTask": "a\\nb"}'), 'a\nb');
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"originalTask": 7}',
    '{ broken',
    '"originalTask"',
  ]) {
    assert.equal(plannedTaskOf(text), undefined, text);
  }
});

describe('writeTaskStories', () => {
  const write = (...tasks: string[]) => writeTaskStories({ tasks, files, storyFile, now: NOW });

  test('creates one story per task, in order', async () => {
    const long = `${'word '.repeat(60)}end`;
    const result = await writeTaskStories({
      tasks: [' Add login ', 'Add logout\nAlso in the menu.', long],
      task: 'Sessions',
      files,
      storyFile,
      now: NOW,
    });
    sameValue(result, { stories: 3, reused: false });
    const file = await readStoryFileOrThrow(storyFile);
    assert.ok(file.kind === 'stories');
    sameValue(file.problems, []);
    assert.equal(file.project, 'my projeçt');
    assert.equal(file.description, 'Sessions');
    sameValue(
      file.stories.map(({ id, priority, done }) => [id, priority, done]),
      [
        ['US-001', 1, false],
        ['US-002', 2, false],
        ['US-003', 3, false],
      ],
    );
    const [first, other, last] = file.stories;
    assert.equal(first?.title, 'Add login');
    assert.match(first?.criteria[0]?.text ?? '', /Add login/);
    assert.equal(other?.title, 'Add logout');
    assert.equal(other?.description, 'Add logout\nAlso in the menu.');
    assert.ok((last?.title.length ?? 999) <= 200);
    assert.equal(last?.description, long);
    assert.equal(plannedTaskOf(await read(storyFile)), undefined);
    assert.ok(existsSync(progressFile()));
  });

  test('the same command again continues with the same file', async () => {
    await write('Add login', 'Add logout\nAlso in the menu.');
    const worked = (await read(storyFile)).replace('"passes": false', '"passes": true');
    await writeFile(storyFile, worked);
    await writeFile(progressFile(), 'learned');
    sameValue(await write('Add login', 'Add logout\nAlso in the menu.'), {
      stories: 2,
      reused: true,
    });
    assert.equal(await read(storyFile), worked);
    assert.equal(await read(progressFile()), 'learned');
    sameValue(await archives(), []);
  });

  test('other tasks or another order replace the old file', async () => {
    await write('a', 'b');
    const old = await read(storyFile);
    const result = await write('b', 'a');
    sameValue(result, {
      stories: 2,
      reused: false,
      archived: '.omc/archive/2026-01-28-151403-my-project',
    });
    assert.equal(await read(inWorkspace(`${result.archived}/prd.json`)), old);
    assert.equal((await write('b')).reused, false);
    assert.equal((await archives()).length, 2);
  });

  test('empty or duplicate tasks are refused', async () => {
    await assert.rejects(write(), HumanError);
    await assert.rejects(write('a', ' \n'), /Task 2 of 2 is empty/);
    await assert.rejects(write('a', 'b', ' a '), /Tasks 1 and 3/);
    assert.equal(existsSync(storyFile), false);
  });
});

test('a kill at any moment does not lose stories', async () => {
  const placing = pathToFileURL(
    path.resolve(import.meta.dirname, '../../src/orchestrator/planner/taskStories.ts'),
  );
  const runFiles = pathToFileURL(
    path.resolve(import.meta.dirname, '../../src/orchestrator/workspace/runFiles.ts'),
  );
  const code = `
    const { writeTaskStories } = await import(${JSON.stringify(placing.href)});
    const { RunFiles } = await import(${JSON.stringify(runFiles.href)});
    const files = new RunFiles(${JSON.stringify(files.workspace)});
    const storyFile = ${JSON.stringify(storyFile)};
    for (let n = 1; ; n++) {
      await writeTaskStories({ tasks: ['version ' + n + ' of it'], files, storyFile, now: new Date() });
      console.log(n);
    }`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code],
    { env: cleanEnv({ home: temp.path }), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  let last = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last === 12) {
      child.kill('SIGKILL');
    }
  }
  await exited;
  assert.ok(last >= 12);
  const texts = await Promise.all(
    (await archives()).map(name =>
      read(inWorkspace(`.omc/archive/${name}/prd.json`)).catch(() => ''),
    ),
  );
  texts.push(await read(storyFile));
  for (let n = 1; n <= last; n += 1) {
    const whole = texts.filter(
      text => text.includes(`"version ${n} of it"`) && text.endsWith('}\n'),
    );
    assert.ok(whole.length > 0, `version ${n}`);
  }
});
