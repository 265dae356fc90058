import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from 'jsonc-parser';
import { prdSchemaText } from '../../scripts/lib/prdSchema.ts';
import { englishOf } from '../../src/base/say.ts';
import { agentRequest } from '../../src/orchestrator/agents/call/agentCaller.ts';
import { claudeAgent, claudeArgs } from '../../src/orchestrator/agents/claude/claude.ts';
import { commandAgent } from '../../src/orchestrator/agents/command/command.ts';
import { demoAgent } from '../../src/orchestrator/agents/demo/demoAgent.ts';
import { ignoredChoices } from '../../src/orchestrator/loop/ignoredChoices.ts';
import { applySplit } from '../../src/orchestrator/planner/splitDraft.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { diagnoseStories } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { choiceOf, EFFORT_LEVELS } from '../../src/orchestrator/stories/formats/callChoice.ts';
import { prdFileText } from '../../src/orchestrator/stories/formats/prdWriter.ts';
import type { CallChoice, Story, StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile, parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { choiceWords } from '../../src/presentation/choiceWords.ts';
import { english } from '../../src/presentation/translate.ts';

function listOf(file: string, text: string): StoryList {
  const list = parseStoryFile(file, text);
  assert.ok(list.kind === 'stories', JSON.stringify(list));
  return list;
}

const prd = (...stories: readonly object[]) =>
  JSON.stringify(
    { userStories: stories.map((story, i) => ({ id: `S${i + 1}`, title: 't', ...story })) },
    null,
    2,
  );
const choicesOf = (file: string, text: string) => listOf(file, text).stories.map(choiceOf);
/** The choice of a story with these keys, and the problems of its file. */
function read(keys: object): { choice: CallChoice; problems: string[] } {
  const list = listOf('prd.json', prd(keys));
  const [story] = list.stories;
  assert.ok(story);
  return {
    choice: choiceOf(story),
    problems: list.problems.map(({ line, message }) => `${line}: ${englishOf(message)}`),
  };
}
const ALL = { model: 'opus', effort: 'high', maxTurns: 40 };

describe('story settings for its agent', () => {
  test('are read in any JSON dialect, in YAML and in Beads', () => {
    assert.deepEqual(choicesOf('prd.json', prd(ALL, {}, { model: 'haiku' })), [
      ALL,
      {},
      { model: 'haiku' },
    ]);
    assert.deepEqual(
      choicesOf(
        'prd.json',
        JSON.stringify([{ category: 'c', steps: ['s'], passes: false, ...ALL }]),
      ),
      [ALL],
    );
    assert.deepEqual(
      choicesOf(
        'plan.yaml',
        'phases:\n  - name: A\n    tasks:\n      - id: 1\n        name: x\n        model: opus\n        effort: high\n        max_turns: 40\n      - id: 2\n        name: y\n',
      ),
      [ALL, {}],
    );
    assert.deepEqual(
      choicesOf(
        'issues.jsonl',
        `${JSON.stringify({ id: 'b-1', title: 'x', status: 'open', ...ALL })}\n{"id":"b-2","title":"y","status":"open"}\n`,
      ),
      [ALL, {}],
    );
  });

  test('accept max_turns, a number in quotes and an uppercase level', () => {
    assert.deepEqual(read({ max_turns: 7 }), { choice: { maxTurns: 7 }, problems: [] });
    assert.deepEqual(read({ maxTurns: 8, max_turns: 7 }).choice, { maxTurns: 8 });
    assert.deepEqual(read({ maxTurns: '12' }), { choice: { maxTurns: 12 }, problems: [] });
    for (const level of EFFORT_LEVELS) {
      assert.deepEqual(read({ effort: ` ${level.toUpperCase()} ` }), {
        choice: { effort: level },
        problems: [],
      });
    }
  });

  test('accept model names of all providers', () => {
    for (const model of [
      'opus[1m]',
      'claude-sonnet-4-5-20250929',
      'claude-opus-4@20250514',
      'openai/gpt-5.2',
      'us.anthropic.claude-sonnet-4-20250514-v1:0',
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude',
      '@cf/meta/llama-3',
    ]) {
      assert.deepEqual(read({ model }), { choice: { model }, problems: [] }, model);
    }
  });

  test('are unset by null and by an empty text', () => {
    for (const open of [null, '', '  ']) {
      const keys = { model: open, effort: open, maxTurns: open };
      assert.deepEqual(read(keys), { choice: {}, problems: [] });
    }
  });
});

describe('an invalid value', () => {
  const refused = [
    '-p',
    '--dangerously-skip-permissions',
    'opus --dangerously-skip-permissions',
    'opus\n--x',
    'opus\t',
    ' opus',
    'a\u0000b',
    'a\u001b[31m',
    'a\u202eb',
    'a\u00a0b',
    'a&calc',
    '$(x)',
    '`x`',
    '"x"',
    "x'y",
    '%PATH%',
    'x;y',
    '{prompt}',
    'x'.repeat(201),
    5,
    true,
    ['opus'],
    { name: 'opus' },
  ];

  test('is ignored and reported as a problem on the line of its key', () => {
    for (const model of refused) {
      const { choice, problems } = read({ model });
      assert.deepEqual(choice, {}, JSON.stringify(model));
      assert.match(
        problems.join('\n'),
        /^6: "model" is .*\. It must be a name of letters, digits and \. _ - : \/ @ \+ \[ \] without spaces\. Until this is corrected or removed, the agent of this story gets the value of the settings\.$/u,
      );
    }
    for (const maxTurns of [0, -1, 1.5, '-1', '1e3', 'many', Number.MAX_VALUE, true, [3]]) {
      const { choice, problems } = read({ maxTurns });
      assert.deepEqual(choice, {}, String(maxTurns));
      assert.match(
        problems.join('\n'),
        /^6: "maxTurns" is .*\. It must be a whole number from 1\./,
      );
    }
    assert.match(
      read({ max_turns: 'x' }).problems.join('\n'),
      /^6: "max_turns" is "x"\. It must be/,
    );
  });

  test('gives only a hint if effort is an estimate of the work', () => {
    for (const effort of ['S', 'small', '2 days', 3, '--x', ['high']]) {
      const text = prd({ effort });
      assert.deepEqual(choicesOf('prd.json', text), [{}]);
      assert.deepEqual(
        diagnoseStories('prd.json', text).diagnoses.flatMap(({ code, severity }) =>
          code === 'storySetting' ? [severity] : [],
        ),
        ['info'],
      );
    }
    assert.match(
      read({ effort: 'small' }).problems.join('\n'),
      /^6: "effort" is "small"\. It must be one of "low", "medium", "high", "xhigh", "max"\./,
    );
  });

  test('is marked in the editor, with a fix that removes it', () => {
    const text = prd({ model: '-x', passes: false, acceptanceCriteria: ['a'] });
    const [found, ...others] = diagnoseStories('prd.json', text).diagnoses;
    assert.ok(found);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [found.code, found.severity, text.slice(found.start, found.end)],
      ['storySetting', 'warning', '"model": "-x"'],
    );
    const [fix] = found.fixes();
    assert.equal(fix?.isClear, false);
    assert.equal(
      applyEdits(text, [...(fix?.edits ?? [])]),
      prd({ passes: false, acceptanceCriteria: ['a'] }),
    );
  });

  test('is found in YAML and Beads', () => {
    const yaml = 'tasks:\n  - id: a\n    name: x\n    model: "-x"\n    effort: 2 days\n';
    assert.deepEqual(
      listOf('plan.yaml', yaml).problems.map(({ code, column, line }) => [code, line, column]),
      [
        ['storySetting', 4, 5],
        ['storySetting', 5, 5],
      ],
    );
    assert.deepEqual(
      diagnoseStories('plan.yaml', yaml).diagnoses.map(({ severity }) => severity),
      ['warning', 'info'],
    );
    const issues = '{"id":"a","title":"x"}\n{"id":"b","title":"y","model":"a b"}\n';
    assert.deepEqual(
      listOf('issues.jsonl', issues).problems.map(({ column, line }) => [line, column]),
      [[2, 23]],
    );
  });

  test('a setting is always a single word that is not an option, whatever the file says', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue(),
      fc.constantFrom(...refused),
    );
    fc.assert(
      fc.property(any, any, any, (model, effort, maxTurns) => {
        const { choice } = read({ model, effort, maxTurns });
        for (const text of [choice.model, choice.effort]) {
          assert.ok(text === undefined || /^[^-\s\p{C}][^\s\p{C}"'`$&|;<>%!^{}()\\]*$/u.test(text));
        }
        assert.ok(choice.maxTurns === undefined || choice.maxTurns >= 1);
      }),
    );
  });
});

describe("the call of the story's agent", () => {
  const call = { cwd: '/w', prompt: 'p', env: {} };
  const config = { ...DEFAULT_CONFIG, model: 'sonnet', effort: 'low', maxTurnsPerIteration: 9 };
  const argumentsFor = (choice: CallChoice) =>
    claudeArgs({ effort: 'low' }, agentRequest(config, { ...call, ...choice }));
  const valueAfter = (args: readonly string[], flag: string) => args[args.indexOf(flag) + 1];

  test('gets the values of the story, and the general settings for the rest', () => {
    const given = (choice: CallChoice) => {
      const args = argumentsFor(choice);
      return ['--model', '--effort', '--max-turns'].map(flag => valueAfter(args, flag));
    };
    assert.deepEqual(given({}), ['sonnet', 'low', '9']);
    assert.deepEqual(given(ALL), ['opus', 'high', '40']);
    assert.deepEqual(given({ model: 'haiku' }), ['haiku', 'low', '9']);
    assert.equal(argumentsFor(ALL).length, argumentsFor({}).length);
  });

  test('names an agent that does not support a setting, and the stories concerned', () => {
    const { stories } = listOf(
      'prd.json',
      prd(ALL, { ...ALL, passes: true }, { effort: 'low' }, {}),
    );
    const told = (agent: Parameters<typeof ignoredChoices>[0], of: readonly Story[] = stories) => {
      const words = ignoredChoices(agent, of);
      return words && englishOf(words);
    };
    const command = (...args: readonly string[]) =>
      commandAgent({ command: 'x', args, promptVia: 'stdin' });
    assert.equal(told(claudeAgent()), undefined);
    assert.equal(
      told(command()),
      'The agent command does not support "model", "effort", "maxTurns", so what these stories choose has no effect: S1, S3.',
    );
    assert.equal(
      told(command('--model={model}')),
      'The agent command does not support "effort", "maxTurns", so what these stories choose has no effect: S1, S3.',
    );
    assert.equal(told(command('--model={model}'), stories.slice(1, 2)), undefined);
    assert.match(told(demoAgent()) ?? '', /"model", "effort", so/);
    const many = listOf('prd.json', prd(...Array.from({ length: 7 }, () => ALL))).stories;
    assert.match(told(demoAgent(), many) ?? '', /: S1, S2, S3, S4, S5, …\.$/);
  });
});

describe('edits keep the story settings', () => {
  const text = prd(
    { priority: 1, passes: false, model: 'a b', effort: 'S', max_turns: '3' },
    { priority: 2, passes: false, acceptanceCriteria: ['a'], ...ALL },
  );

  test('after a tick, an untick and a move, byte for byte', () => {
    const lines = (of: string) => of.split('\n').filter(line => /model|effort|urns/.test(line));
    const ticked = editStoryDone(text, { id: 'S2' }, true);
    assert.notEqual(ticked, text);
    assert.deepEqual(lines(ticked), lines(text));
    assert.equal(editStoryDone(ticked, { id: 'S2' }, false), text);
    const { file, move } = parseStoryText('prd.json', text);
    assert.ok(file.kind === 'stories');
    const [first, second] = file.stories;
    assert.ok(first && second);
    const moved = move(second, first, 'before');
    assert.notEqual(moved, text);
    assert.deepEqual(lines(moved), lines(text));
  });

  test('in each part of a split story', () => {
    const part = (title: string) => ({ title, acceptanceCriteria: ['x'] });
    const after = applySplit(text, 'S2', [part('one'), part('two')]);
    assert.deepEqual(choicesOf('prd.json', after), [{ maxTurns: 3 }, ALL, ALL]);
    assert.ok(after.includes('"model": "a b"'));
  });

  test('in a conversion to prd.json', () => {
    const list = listOf(
      'plan.yaml',
      'tasks:\n  - id: a\n    name: x\n    model: opus\n  - id: b\n    name: y\n',
    );
    assert.deepEqual(choicesOf('prd.json', prdFileText(list)), [{ model: 'opus' }, {}]);
    assert.doesNotMatch(prdFileText(list), /effort|maxTurns/);
  });
});

test('the settings are described in words', () => {
  assert.deepEqual(choiceWords({}, english), []);
  assert.deepEqual(choiceWords(ALL, english), ['model opus', 'effort high', 'at most 40 turns']);
  assert.deepEqual(choiceWords({ maxTurns: 1 }, english), ['at most 1 turn']);
});

test('the editor explains the keys and offers the levels of effort', () => {
  const { story } = JSON.parse(prdSchemaText()).definitions;
  const { effort, max_turns: other, maxTurns, model } = story.properties;
  assert.match(model.description, /^The model for the agent of this story/);
  assert.deepEqual(effort.anyOf[0].enum, [...EFFORT_LEVELS]);
  assert.match(effort.description, /low, medium, high, xhigh, max/);
  assert.deepEqual([maxTurns.anyOf[0].type, maxTurns.anyOf[0].minimum], ['integer', 1]);
  assert.match(other.description, /The usual name is "maxTurns"\.$/);
});
