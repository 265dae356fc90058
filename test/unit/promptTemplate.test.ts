import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HumanError } from '../../src/base/humanError.ts';
import { initHandoff } from '../../src/orchestrator/iteration/handoff.ts';
import { iterationPrompt } from '../../src/orchestrator/iteration/prompt/prompt.ts';
import type { PromptInput } from '../../src/orchestrator/iteration/prompt/promptInput.ts';
import {
  parsePromptTemplate,
  readPromptTemplate,
  TEMPLATE_MAX_BYTES,
  TEMPLATE_MAX_TOKENS,
} from '../../src/orchestrator/iteration/prompt/promptTemplate.ts';
import { PLACEHOLDERS } from '../../src/orchestrator/iteration/prompt/templateParts.ts';
import { estimateTokens } from '../../src/orchestrator/iteration/prompt/tokens.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { aStory } from '../support/storyList.ts';

const textOf = (...[input, template]: Parameters<typeof iterationPrompt>) =>
  iterationPrompt(input, template).text;

/** The template of the Ralph-Fresh whitepaper, 7.2, down to its state. */
const WHITEPAPER = `# Ralph Fresh Context - Iteration {{N}}/{{MAX}}

## Your Task
{{original_prompt}}

### PRD Status
Progress: {{completed}}/{{total}} stories complete
Next story: {{nextStoryId}}

### Recent Git History
{{#each recentCommits}}
- {{hash}}: {{message}}
{{/each}}

### Patterns Learned
{{#each patterns}}
- {{this}}
{{/each}}

## Your Mission
`;

const input: PromptInput = {
  handoff: {
    ...initHandoff({ prompt: 'Build a todo API', maxIterations: 20, completionPromise: 'FINI' }),
    iteration: 7,
    prd: {
      project: 'Todos',
      branchName: 'main',
      description: '',
      storiesTotal: 5,
      storiesCompleted: 2,
      nextStoryId: 'US-003',
      incompleteIds: ['US-003'],
    },
    progress: { patterns: ['Routes in app.ts', 'Use pnpm'], recentLearnings: ['Port 0'] },
    git: {
      recentCommits: [
        { hash: 'abc1', message: 'feat: two' },
        { hash: 'abc0', message: 'feat: one' },
      ],
      branch: 'main',
      hasUncommittedChanges: false,
    },
  },
  story: aStory({
    id: 'US-003',
    title: 'List todos',
    description: 'Write {{task}} and {{unknown}}, $& and $1.',
    position: 2,
  }),
  storyFile: '.omc/prd.json',
  progressFile: '.omc/progress.txt',
  stuckThreshold: 3,
  verify: ['npm test'],
};

const render = (text: string, change: Partial<PromptInput> = {}) =>
  textOf({ ...input, ...change }, parsePromptTemplate(text, 'prompt.md'));

function refusal(text: string): string {
  try {
    parsePromptTemplate(text, '.omc/prompt.md');
  } catch (error) {
    assert.ok(error instanceof HumanError, String(error));
    return error.message;
  }
  return assert.fail('accepted');
}

describe('a prompt template', () => {
  test('is rendered in the syntax of the whitepaper', () => {
    assert.equal(
      render(WHITEPAPER),
      `# Ralph Fresh Context - Iteration 7/20

## Your Task
Build a todo API

### PRD Status
Progress: 2/5 stories complete
Next story: US-003

### Recent Git History
- abc1: feat: two
- abc0: feat: one

### Patterns Learned
- Routes in app.ts
- Use pnpm

## Your Mission
`,
    );
  });

  test('is rendered the same with Windows line breaks and a byte order mark', () => {
    assert.equal(render(WHITEPAPER.replaceAll('\n', '\r\n')), render(WHITEPAPER));
  });

  test('can have a block on one line', () => {
    assert.equal(
      render('{{#each patterns}}- {{this}}; {{/each}}.'),
      '- Routes in app.ts; - Use pnpm; .\n',
    );
  });

  test('can use facts and lists by name', () => {
    assert.equal(
      render(
        '{{ project }} {{branch}} {{remaining}} {{nextStoryTitle}} {{completion_promise}} {{storyFile}} {{progressFile}}|{{lastError}}|\n{{learnings}}\n{{recentCommits}}\n{{verify}}',
      ),
      'Todos main 3 List todos FINI .omc/prd.json .omc/progress.txt||\n- Port 0\n- abc1: feat: two\n- abc0: feat: one\n- `npm test`\n',
    );
  });

  test('can use sections by name, as in the built-in prompt', () => {
    const usual = iterationPrompt(input).sections;
    const template = usual.map(({ name }) => `{{${name}}}`).join('\n\n');
    assert.equal(render(template), textOf(input));
  });

  test('every known placeholder is filled in', () => {
    const { story: _story, storyFile: _storyFile, ...others } = input;
    for (const name of PLACEHOLDERS) {
      assert.doesNotMatch(render(`a {{${name}}} b`).replace(/Write \{\{.*/, ''), /\{\{|undefined/);
      const free = textOf(
        {
          ...others,
          handoff: initHandoff({ prompt: '', maxIterations: 1, completionPromise: '' }),
        },
        parsePromptTemplate(`a {{${name}}} b`, 'x'),
      );
      assert.doesNotMatch(free, /\{\{|undefined|NaN/);
    }
  });

  test('leaves no gap for an empty section', () => {
    assert.equal(render('A\n\n{{hints}}\n\n{{failedCheck}}\n\nB'), 'A\n\nB\n');
    assert.equal(render('A\n{{hints}}\nB'), 'A\nB\n');
    assert.equal(render('A {{hints}} B'), 'A  B\n');
    assert.match(
      render('A\n\n{{hints}}\n\nB', { hints: ['x'] }),
      /^A\n\n## Hints.*\n[\s\S]*- x\n\nB\n$/,
    );
  });

  test('does not expand placeholders in inserted text', () => {
    assert.match(render('{{story}}'), /Write \{\{task\}\} and \{\{unknown\}\}, \$& and \$1\./);
    assert.equal(
      render('{{original_prompt}}', { task: '{{N}} $1 {{#each patterns}}' }),
      '{{N}} $1 {{#each patterns}}\n',
    );
  });

  test('does not need a story or task', () => {
    assert.equal(render('Do the next thing.'), 'Do the next thing.\n');
  });

  test('can contain braces, comments and triple braces', () => {
    assert.equal(render('A \\{{task}} \\{{ B'), 'A {{task}} {{ B\n');
    assert.equal(render('A\n{{! a note }}\nB { } {{{N}}}'), 'A\nB { } 7\n');
  });

  test('loses its control characters', () => {
    assert.equal(render('a\u001b[31mb\u0000c'), 'abc\n');
  });

  test('distinguishes its own text from inserted text in its sections', () => {
    const { sections, text } = iterationPrompt(
      input,
      parsePromptTemplate('Iteration {{N}}\n\n{{story}}\n\nEnd', 'x'),
    );
    assert.deepEqual(
      sections.map(({ name }) => name),
      ['template', 'story', 'template'],
    );
    assert.equal(sections.map(section => section.text).join(''), text.trimEnd());
    assert.equal(sections[0]?.tokens, estimateTokens('Iteration 7\n\n'));
  });
});

describe('an invalid template is refused with the line of the error', () => {
  test('an unknown placeholder is reported with its line, the nearest name and all names', () => {
    const message = refusal('A\n\n{{taks}}\n');
    assert.match(
      message,
      /^\.omc\/prompt\.md:3: \{\{taks\}\} is not known\. Did you mean \{\{task\}\}\?/,
    );
    for (const name of PLACEHOLDERS) {
      assert.ok(message.includes(name), name);
    }
  });

  for (const [text, expected] of [
    ['{{storyfile}}', /^\.omc\/prompt\.md:1: .*Did you mean \{\{storyFile\}\}/],
    ['{{}}', /:1: \{\{\}\} is not known/],
    ['{{constructor}}', /not known/],
    ['{{hash}}', /\{\{hash\}\} is not known/],
    [
      '{{#each commits}}{{/each}}',
      /\{\{#each commits\}\} is not known\. Did you mean \{\{#each \w+\}\}\? Known here: recentCommits, patterns/,
    ],
    [
      '{{#each patterns}}\n{{hash}}\n{{/each}}',
      /:2: \{\{hash\}\} is not known within \{\{#each patterns\}\}\. Did you mean \{\{this\}\}/,
    ],
    ['{{#if story}}x{{/if}}', /:1: \{\{#if story\}\} is not known\. The only blocks are/],
    ['A\n{{#each patterns}}', /:2: \{\{#each patterns\}\} has no \{\{\/each\}\}/],
    ['A\n{{/each}}', /:2: \{\{\/each\}\} without/],
    ['{{#each patterns}}{{#each learnings}}{{/each}}{{/each}}', /within another one/],
    ['A\nB {{task}\n', /:2: "\{\{" without "\}\}"/],
    ['', /is empty/],
    [' \n\t', /is empty/],
    ['{{story}}'.repeat(50), /could result in a prompt of \d+ tokens; the maximum is 60000/],
  ] as const) {
    test(JSON.stringify(text.slice(0, 50)), () => assert.match(refusal(text), expected));
  }

  test('messages contain no terminal control characters and at most one line of the template', () => {
    assert.ok(refusal(`{{${'x'.repeat(10_000)}}}`).length < 1_000);
  });
});

describe('the template file', () => {
  test('is read if it exists', async () => {
    await using temp = await tempDir('template-');
    const file = path.join(temp.path, 'prompt.md');
    assert.equal(await readPromptTemplate(file), undefined);
    await writeFile(file, '\uFEFFIteration {{N}}\n');
    const template = await readPromptTemplate(file);
    assert.equal(template?.file, file);
    assert.equal(textOf(input, template), 'Iteration 7\n');
  });

  test('is refused if it is too large, a folder, or not text', async () => {
    await using temp = await tempDir('template-');
    const file = path.join(temp.path, 'prompt.md');
    const message = async () => {
      const error = await readPromptTemplate(file).then(
        () => assert.fail('accepted'),
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof HumanError, String(error));
      assert.ok(error.message.startsWith(file));
      return error.message;
    };
    await writeFile(file, 'x'.repeat(TEMPLATE_MAX_BYTES + 1));
    assert.match(await message(), /may have at most 65536/);
    await writeFile(file, Buffer.from([0x61, 0xff, 0xfe]));
    assert.match(await message(), /not UTF-8/);
    await mkdir(path.join(temp.path, 'folder/prompt.md'), { recursive: true });
    await assert.rejects(readPromptTemplate(path.join(temp.path, 'folder/prompt.md')), HumanError);
  });
});

describe('the size of a rendered template', () => {
  test('is bounded, whatever is inserted', () => {
    const huge = '漢字 word #\n'.repeat(20_000);
    const part = fc.oneof(
      fc.constantFrom(...PLACEHOLDERS).map(name => `{{${name}}}\n`),
      fc
        .constantFrom('recentCommits', 'patterns', 'learnings', 'verify')
        .map(list => `{{#each ${list}}}\n- own text {{this}} {{this}}\n{{/each}}\n`),
      fc.constant('own text '),
    );
    const lists = Array.from({ length: 100 }, () => huge);
    const full: PromptInput = {
      ...input,
      task: huge,
      story: {
        ...(input.story as NonNullable<PromptInput['story']>),
        title: huge,
        description: huge,
      },
      storyFile: huge,
      progressFile: huge,
      hints: lists,
      verify: lists,
      handoff: {
        ...input.handoff,
        completion_promise: huge,
        progress: { patterns: lists, recentLearnings: lists, lastCompletedStory: huge },
        lastError: { iteration: 6, message: huge },
        git: {
          recentCommits: lists.map(message => ({ hash: message, message })),
          branch: huge,
          hasUncommittedChanges: true,
        },
      },
    };
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), parts => {
        const text = parts.join('');
        let prompt: string;
        try {
          prompt = textOf(full, parsePromptTemplate(text, 'x'));
        } catch (error) {
          assert.ok(error instanceof HumanError);
          return;
        }
        assert.ok(estimateTokens(prompt) <= TEMPLATE_MAX_TOKENS, `${estimateTokens(prompt)}`);
      }),
      { numRuns: 15 },
    );
  });
});
