import assert from 'node:assert/strict';
import { test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const SPEC_KIT = 'specs/001-shop/tasks.md';
const OPEN_SPEC = 'openspec/changes/shop/tasks.md';
const KIRO = '.kiro/specs/shop/tasks.md';

function told(path: string, text: string): string[] {
  const { kind, problems } = parseStoryFile(path, text);
  assert.equal(kind, 'stories');
  return problems.map(
    ({ code, column, line, message }) =>
      `${code} ${line}:${column} ${englishOf(message).replace(/ like a task.*/s, '')}`,
  );
}

test('a line with a new id like those of the items, but without a checkbox, is a problem with its line', () => {
  for (const [path, item, line, id] of [
    [SPEC_KIT, '- [ ] T001 One', '- T002 Two', 'T002'],
    [SPEC_KIT, '- [ ] T001 One', '  * **T002** Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '2. T002: Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '### T002 Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '- [T002] Two', 'T002'],
    ['tasks.md', '- [ ] T001 One', '- T002 Two', 'T002'],
    [OPEN_SPEC, '- [ ] 1.1 One', '- 1.2 Two', '1.2'],
    [KIRO, '- [ ] 1. One', '- 2. Two', '2'],
  ] as const) {
    const column = line.length - line.trimStart().length + 1;
    assert.deepEqual(told(path, `# Shop\n\n${item}\n${line}\n${line}\n\nText\n`), [
      `notAStory 4:${column} This line begins with ${id}`,
    ]);
  }
});

test('what speaks of an item, groups items or has a number for another reason is no such line', () => {
  for (const [path, text] of [
    [
      SPEC_KIT,
      '- [ ] T001 One\n- T001 blocks T002\n- T003-T005 later\n- T2: Threat\n\nT009 is gone.\n',
    ],
    [SPEC_KIT, '### T002 Two\n\nText\n\n- [ ] T001 One\n```\n- T003 Three\n```\n'],
    [SPEC_KIT, '- [ ] One\n- T002 Two\n- 1.2 Three\n'],
    [OPEN_SPEC, '## 1. Shop\n- [ ] 1.1 One\n## 2. Notes\n- 16 presets\n2. Then\n'],
    [KIRO, '- [ ] 1. One\n  - 1.5 seconds at most\n  - _Requirements: 1.1_\n- 1.1\n'],
    ['PLAN.md', '- [ ] T001 One\n- T002 Two\n'],
  ] as const) {
    assert.deepEqual(told(path, text), [], text);
  }
});

test('thousands of such lines and headings are read quickly', () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, index) => `- T${index + 100} x\n# T${index} y\n`,
  );
  const started = performance.now();
  assert.ok(told(SPEC_KIT, `- [ ] T001 One\n${lines.join('')}`).length >= 20_000);
  assert.ok(performance.now() - started < 5_000);
});
