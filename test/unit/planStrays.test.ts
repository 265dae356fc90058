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
    [SPEC_KIT, '  - [ ] T001 One', '  * **T002** Two', 'T002'],
    [SPEC_KIT, '- [ ] T001 One\n  Details', '- T002 (depends on T001) Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '2. T002: Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '### T002 Two', 'T002'],
    [SPEC_KIT, '- [x] T001 One', '- [T002] Two', 'T002'],
    ['tasks.md', '- [ ] T001 One', '- T002 Two', 'T002'],
    [OPEN_SPEC, '- [ ] 1.1 One', '- 1.2 Two', '1.2'],
    [KIRO, '- [ ] 1. One', '- 2. Two', '2'],
    [KIRO, '- [ ] 1. One\n  - [ ] 1.1 a', '  - 1.2 b', '1.2'],
    ['PLAN.md', '- [x] T1 One', '- T2 Two', 'T2'],
    ['PLAN.md', '- [x] US-001: One\n- [ ] US-002: Two', '- US-003: Three', 'US-003'],
    ['PLAN.md', '- [x] Task 1: One', '- **Task 2:** Two', 'Task 2'],
    [SPEC_KIT, '- [ ] T001 One\nwraps', '- T002 Two', 'T002'],
    ...['1.2: Two', '**1.2** Two', '1.2 **Two**', '1.2 `a.ts` Two', '1.2 [P] Two'].map(
      text => [OPEN_SPEC, '- [ ] 1.1 One', `- ${text}`, '1.2'] as const,
    ),
    [KIRO, '- [ ] 1. A\n  - [ ] 1.2 Two', '  - 1.1 One', '1.1'],
  ] as const) {
    const column = line.length - line.trimStart().length + 1;
    const at = 3 + item.split('\n').length;
    assert.deepEqual(told(path, `# Shop\n\n${item}\n${line}\n${line}\n\nText\n`), [
      `notAStory ${at}:${column} This line begins with ${id}`,
    ]);
  }
});

/** Where lines of a plan with items are problems. */
function placesIn(text: string): string[] {
  return told('PLAN.md', `# Plan\n\n- [ ] One\n\n## More\n\n${text}\n`).map(line =>
    line.split(' ').slice(1, 3).join(' '),
  );
}

test('a box that is not at the start of a line is a problem with its place', () => {
  for (const text of [
    ...['- [ ] a<br>- [ ] on b', '- [ ] a<BR>[ ] b', '- [ ] a<br>⬜ b', '- [ ] - [ ] go'],
    ...['  - [ ] a - [x] b - [ ] c', '1. [ ] a; 2. [ ] b', '- [ ] 一。- [ ] 二'],
    ...[
      '- [x] Unit tests [ ] Integration tests',
      '- [ ] Build API; [ ] Build UI',
      '- [ ] Login  [ ] Logout',
    ],
    ...['- [ ] Login [ ] Logout [ ] Reset', '- [x] Server ☐ Page', '- [ ] Server ⬜ Page ⬜ Mail'],
    ...[
      '- Server: [ ] users [ ] orders',
      '- Implement login [ ]',
      '1. **Login** [ ]',
      '- Login ⬜',
    ],
    ...[
      '- Phase 2 ⬜\n\n## Phase 2\n\nText',
      '### Task 2: Build [ ]',
      '### 2. [ ] Build',
      '- High: [ ] Title',
      '**[ ] Task**',
    ],
    ...['- [T001] [ ] x', '- **[T001]** [ ] x', '- #12 [ ] x', '- \u{1F680} [ ] x'],
    ...['- [ ] a (see b), [ ] c', '- <!-- x --> [ ] x', '- ⬜ a ⬜ b'],
  ]) {
    const [place = ''] = placesIn(text);
    assert.match(place, /^7:\d+ (?:A|This)$/, text);
    const box = text.slice(Number(/:(\d+)/.exec(place)?.[1]) - 1);
    assert.match(box, /^(?:[-*] |\d\. )?(?:\[|☐|⬜)/, text);
  }
});

test('text about boxes, what explains marks, code, quotations and comments are none', () => {
  for (const text of [
    ...['- [ ] Read `- [ ] a` and "- [x] b"', '- [ ] Turn - [ ] into - [x] as a tick'],
    ...['- [ ] Support [ ] and [x] in the parser', '- [ ] Show a dialog: [ ] Remember me'],
    ...['- [ ] Do it <!-- - [ ] Old -->', '- [ ] a `` x - [ ] b `` c', '- [ ] See [x] a - [ ](d)'],
    ...['- [ ] Parse `- [ ]`; then - [ ] items', '- [ ] Support lists: - [ ] open and - [x] done'],
    ...[
      '- [ ] Support task lists, e.g. - [ ] todo',
      '- [ ] Parse lines like - [ ] foo and - [x] b',
    ],
    ...['- [ ] Fix it (see 3. [x] Login)', '- [ ] A depends on: 1. [x] B', '- [ ] a + [x] b'],
    ...['- Use [ ] for open items', '- All items start as [ ]', '- Marks: [ ] todo, [x] done'],
    ...['**Legend:** ⬜ Not started · 🔄 In progress · ✅ Done', '**Marks:** ☐ Todo | ☑ Done'],
    ...['**Legende**: [ ] offen · [~] in Arbeit · [x] erledigt', '**凡例：** ⬜ 未着手 / ✅ 完了'],
    ...['**Phase 2** ⬜\n\n- [ ] a', '- **Phase 2** ⬜\n  - [ ] a', '- Log: T1 [x], T2 [ ]'],
    ...[
      '- Phase 2: Core ⬜\n\n## Phase 2: Core\n\n- [ ] a',
      '- Progress: ⬛⬛⬜',
      '**Status**: ⬜',
    ],
    ...[
      '- [x] Phase 1 🟩🟩⬜ 75% done',
      '- Progress: ⬜⬜⬜ 0% done',
      '- [x] Show ⬜⬛⬜ in a row',
    ],
    ...[
      '- [x] Marks ⬜ open and ✅ done',
      '- x = [ ] here',
      '- [x] Read [ ], too',
      '- Rating: □□□',
    ],
    ...['- What about [ ] inside a cell?', '- text\n  [ ] wrapped'],
    ...['## Phase 2: Core ⬜\n\n- [ ] a', '### Task 1: Setup [ ]\n- [ ] a', '- **Needs:** []'],
    ...['- [x] Filter returns [] not null', '- Lists return []', '- **Type**: [ ] Bug [x] Feature'],
    ...[
      '- Owner: [ ]',
      '- [x] Support [ ] checkboxes',
      '- A checkbox [ ] that you tick',
      '- Use [ ] b',
    ],
    ...['* [ ] **Empty list** [ ] handled', '- [open] tickets are listed'],
    ...['- [ ]', '- x[ ] = y', '- Items[ ] are read', 'Write [ ] here', '- [done] means finished'],
    ...['⬜⬜⬜ 0%', '⬜ 0%', '- ⬜⬜ 0/2', '⬜ Open, ✅ done', '⬜ open ✓ done', '■□□ a'],
    ...[
      ...[
        'The parser reads: [ ] x',
        '> [ ] means open',
        '> [x] tested',
        '`<input type="checkbox"> x`',
      ],
      ...['<li><input type="checkbox" checked> a</li>', 'Style <input type="checkbox"> fields'],
      '⬜ Offen\n✅ Fertig\n🟨 In Arbeit',
      '1. ☐ means open',
      '- ⬜ not started, 🟨 half, ✅ done',
    ],
  ]) {
    assert.deepEqual(placesIn(text), [], text);
  }
});

test('a box alone at the margin is a problem, and so are words in brackets for open work', () => {
  for (const text of [
    ...['⬜ b', '□ c', '⬜ b 🚀', '⬜ Add © notice', '✅ a\n⬜ b', '[] d', '[  ] e'],
    ...[
      '- [WIP] k',
      '- [NOT DONE] l',
      '- [BLOCKED] m',
      '- [IN PROGRESS] f',
      '- [pending] g',
      '- [not-started] h',
      '- [ TODO ] i',
    ],
  ]) {
    assert.match(placesIn(text).join(), /^[78]:1 This$/, text);
  }
});

test('a mark of work that has begun is a problem in a list of marks', () => {
  for (const [text, places] of [
    ['- ⬜ Show it\n- 🚧 Save it\n- ⬜ Print it', ['7:1', '8:1', '9:1']],
    ['- ✅ Show the list\n- ⏳ Search in it', ['8:1']],
    ['- ✅ Done\n- 🔄 In progress\n- ⬜ Open', []],
    ['- 🚧 Save it', []],
    ['- 🚧 Save it\n- 🚧 Print it', []],
    ['- 🚧 Save it\n- ⏳ Print it\n- ✅ Show it', ['7:1', '8:1']],
    ['- [ ] Save it\n  ⏳ waits for Anna\n  ✅ tested', []],
    ['- ✅ Part 1\n- 🔄 Part 2\n  - [ ] a', []],
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} This`),
      text,
    );
  }
});

test('several boxes without bullets below an item are problems', () => {
  assert.deepEqual(placesIn('- [ ] a\n  [ ] b\n  [x] c\n  [ ] d'), ['8:3 This', '10:3 This']);
});

test('a line without a box in a numbered list of items is a problem with its line', () => {
  for (const [text, places] of [
    ['1. [ ] a\n\n   Text\n2. b\n3) c\n4. [ ] d\n\n5. e', ['10:1', '11:1', '14:1']],
    ['1. a\n1. [x] b\n1. c', ['7:1', '9:1']],
    [' 9. [ ] a\n10. b', ['8:1']],
    ['1. [ ] a\n 2. b\n4. c', ['8:2', '9:1']],
    ['2. [ ] b\ncontinued\n3. c', ['9:1']],
    ['- [ ] a\n1. Open it\n2. Close it', []],
    ['1. [ ] a\n\nSteps:\n\n2. Open it', []],
    ['1. [ ] a\n## Notes\n2. Open it', []],
    ['1. [ ] a\n   2. Open it\n3. ~~Close it~~\n4. **~~b~~**\n5. Removed\n6. (dropped)', []],
    ['1. [ ] a\n2. Build\n   - [ ] c\n3. [ ] e', []],
    ['1. [ ] a\n2. Note: b\n3. \u2014 none \u2014\n4. ...', []],
    ['1. [ ] a\n2. [ ] b\n\n6. Open it\n7. Close it', []],
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} This`),
      text,
    );
  }
});

test('a box behind a label or in HTML is a problem, and so is an open one in a quotation', () => {
  for (const text of [
    ...['Task 3: [ ] Build', 'Task 3: ⬜ Build', 'Step 1. [ ] Build', 'Task 4 - [ ] Build'],
    ...['**Task 3:** [ ] Build\n- [ ] a', '> [ ] Build', '→ [ ] Build', '◆ [ ] Build'],
    ...['1、[ ] 作る', '１． [ ] 作る', '2）[ ] 作る'],
    ...[
      '<li>[ ] Build</li>',
      '<li>⬜ Build</li>',
      '<p><label><input type="checkbox"> Build</label>',
    ],
    ...["<input disabled type='checkbox'/>Build", '- [ ]**Build** it', '- [ ]: **Build**'],
    ...['1. [TODO] Build', '- [planned] Build', '- [in Bearbeitung] Bauen', '- [進行中] 作る'],
  ]) {
    assert.match(placesIn(text)[0] ?? '', /^7:\d+ This$/, text);
  }
  for (const text of [
    ...['Note: [ ] must stay', 'Format: [ ] text', 'Risk: [ ] Low [ ] High', 'Reviewer: [ ] Anna'],
    ...['Question 3: [ ] Yes [ ] No', 'Task 3: [ ] Server [x] Page', 'Reviewer 1: [ ] Anna'],
    ...['備考：詳細は設計書 ⬜ を参照', '注意：この表 [ ] は空', 'Phase 1: [ ] Setup\n\n- [ ] a'],
    ...['> [ ] Task waits\n> [x] Task is done', '> [ ] means open', '> [x] tested'],
    ...['<code>[ ] x</code>', '<pre>[ ] x', '<tr><td>[ ] a</td></tr>', '<option>[ ] x'],
    ...['<p>[ ] Yes [x] No</p>', '<p>☐ open ☑ done</p>', '<p>[ ] open</p>', '<https://x.y>[ ] a'],
    ...['- <input type="checkbox"> is shown', '<summary>☐ Phase 2</summary>\n\n- [ ] b'],
    ...['<li><input type="checkbox" checked> a</li>', 'Style <input type="checkbox"> fields'],
    ...['<p>☐ Phase 1</p>\n\n- [ ] a', '`<input type="checkbox"> x`', 'The parser reads: [ ] x'],
    ...['- [x] The parser handles [ ] correctly', '- [x] The menu shows [ ] Foo'],
  ]) {
    assert.deepEqual(placesIn(text), [], text);
  }
});

test('the mark of a heading, of its list and of its details is none', () => {
  for (const text of [
    ...['## [ ] Phase 1: Setup\n- [ ] a', '## [x] Phase 2\n- [x] b', '## Phase 1 [ ]\n- [ ] a'],
    ...['- [Phase 1: Setup](#phase-1-setup) ⬜\n## Phase 1: Setup\n- [ ] a'],
    ...[
      '1. Phase 1: Setup ⬜\n## Phase 1: Setup\n- [ ] a',
      '- Phase 1 ⬜\n## Phase 1: Setup\n- [ ] a',
    ],
    ...['- Phase 2: Build — ⬜ 0/4 tasks\n## Phase 2: Build\n- [ ] a'],
    ...['- ⬜ Phase 3: Ship\n## Phase 3: Ship\n- [ ] a'],
    ...['- [ ] Log in\n### Log in [ ]', '- [ ] Task 1: Log in\n### ⬜ Task 1: Log in'],
  ]) {
    assert.deepEqual(placesIn(text), [], text);
  }
  for (const [text, places] of [
    ['## [ ] Build\n\nText\n\n## Other\n- [ ] a', ['7:1']],
    ['## Server\n- [x] a\n## Next\n- Server: [ ] users', ['10:11']],
    ['- [x] 1. Create\n## Phase 2\n### 1. [ ] Deploy', ['9:5']],
    ['- [x] Task 1: Create\n## Phase 2\n### [ ] Task 1: Deploy', ['9:1']],
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} This`),
      text,
    );
  }
});

test('marks explain themselves only if their words are states', () => {
  for (const [text, places] of [
    ['- ✅ Auth\n- 🚧 Payments\n- ⬜ Emails', ['8:1', '9:1']],
    ['- ✅ Fertig\n- 🚧 In Arbeit\n- ⬜ Mails', []],
    ['- 🔴 High: 2\n- 🟡 Medium: 4\n- 🟢 Low: 1', []],
    ['[ ] offen\n[x] erledigt', []],
    ['☐ 未着手\n☑ 完了', []],
    ['- **Status:** ☐ noch nicht begonnen', []],
    ['[ ] not started yet', []],
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} This`),
      text,
    );
  }
});

test('a bullet without a box between two items is a problem with its line', () => {
  for (const [text, places] of [
    ['- [ ] a\n  - x\n- b\n  more\n- ✅ c\n- Done in PR 2\n- [x] d', ['9:1']],
    ['- [ ] a\n- b is long and\nwraps here\n- [ ] c', ['8:1']],
    ['- [ ] a\n- b\n- Group\n  - [ ] c\n  - [ ] d\n- [ ] e', ['8:1']],
    ['- [ ] a\n- **b** with `c`\n- [] d', ['8:1', '9:1']],
    ['- [ ] a\n- Note taking page\n- [ ] c', ['8:1']],
    ['- [ ] a\n- b (done)\n- c – done 2026-05-01\n- d **done**\n- f\n- [ ] g', ['11:1']],
    ['- [ ] a\n- Show them (completed tasks only)\n- [ ] g', ['8:1']],
    ['- [ ] a\n- Restore files (deleted by accident)\n- [ ] g', ['8:1']],
    ['- [ ] a\n- b (deferred)\n- c (removed)\n- d – moved to v2\n- f\n- [ ] g', ['11:1']],
    ...[
      ...['- [ ] a\n* b\n- [ ] c', '- [ ] a\n## More\n- b\n- [ ] c', '- [ ] a\n\n- b\n\n- [ ] c'],
      ...['- [ ] a\n- b', '- b\n- [ ] a', '- [ ] a\n- Group\n  - [ ] b\n- [ ] c'],
      ...['- [ ] a\n  - [ ] b\n  - c\n  - [ ] d', '- [ ] a\n> b\n- c\n- [ ] d'],
      ...[
        '- [ ] a\n- Files: `a.ts`\n- Effort is low\n- [ ] b',
        '- [ ] a\n- **Priority**: P1\n- [ ] b',
      ],
      ...['- [ ] a\n- _Needs b_\n- [ ] c', '- [ ] a\n- See [b](b.md)\n- [ ] c'],
      ...[
        '- [ ] a\n- depends on b\n- [ ] c',
        '- [ ] a\n- src/a.ts\n- [ ] c',
        '- [ ] a\n- `a`\n- [ ] c',
      ],
      ...['- [ ] a\n- https://a.example\n- [ ] c', '- [ ] a\n- {{TASK}}\n- [ ] c'],
      ...['- [ ] a\n- **Frontend**\n- [ ] b', '- [ ] a\n- Phase 2 (later)\n- [ ] b'],
      ...['- [ ] a\n- ~~b~~\n- Moved to 3\n- Dropped\n- Won’t do b\n- [ ] c'],
      ...['- [ ] T001 a\n- T002 blocks T003\n- [ ] T003 b', '- [ ] a\n- 注意：b\n- [ ] c'],
    ].map(one => [one, []] as const),
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} This`),
      text,
    );
  }
});

test('an open state of a task that is a heading is a problem with its line', () => {
  for (const [text, places] of [
    ['### Task 1: Build\n**Status:** [ ] Not started\n', ['8:1']],
    ['### T007 Build\n\n- Status: ⬜ open\n', ['9:1']],
    ['### タスク2: 作る\n状態：[~] 作業中\n', ['8:1']],
    ['### Task 1: Build\n**Status:** TODO\n### Task 2\n- Status: `pending`\n', ['8:1', '10:1']],
    ['### Task 1: Build\n**Status**: 🚧 In progress\n', ['8:1']],
    ...[
      ...['### Overview\n**Status:** [ ] Not started\n', '### Cart\n**Status**: [ ] Not started'],
      ...['### Task 1\n**Status:** [x] Done\n### Task 2\n**Status:** Finished\n'],
      ...['### Task 1: Build\n**Status:** [ ] Not started\n- [ ] a\n'],
      ...['### Task 1: Build\n**Status:** [ ] not started | [ ] in progress | [x] done\n'],
      ...['### Task 1: Build\nStatus: [ ] PENDING / PASS / FAIL\n'],
      ...['### Task 1: Build\nStatus: pending | done\n', '### Cart\nStatus: TODO\n'],
      ...['### Task 1: Build\nStatus: open questions are below\n'],
      ...['- [ ] Task 1: Build\n### Task 1: Build\n**Status:** [ ] Not started\n'],
      ...['- [ ] T001 Build\n### T001 Details\nStatus: [ ] open\n'],
      ...['- [ ] **Task 2: Build**\n### Task 2: Build (2 h)\nStatus: [ ] open\n'],
      ...['- [ ] 1.2 Build\n### 1.2 Build the page\nStatus: [ ] open\n'],
      ...['### ~~Task 4: Build~~\nStatus: [ ] open\n', '### Task 5: Removed\nStatus: [ ] open\n'],
      ...[
        '### Task 3: Build ✅\nStatus: [ ] open\n',
        '### Task 3: Build (done)\nStatus: [ ] open\n',
      ],
    ].map(one => [one, []] as const),
  ] as const) {
    assert.deepEqual(
      placesIn(text),
      places.map(place => `${place} The`),
      text,
    );
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
    [KIRO, '- [ ] 1. One\n  - [ ] 1.1 a\n    - [ ] x\n    - 1.2 b\n  - 1.4 c\n'],
    ['PLAN.md', '- [ ] US-001: One\n- US-003: Three\n- US-002 depends on US-001\n'],
    ['PLAN.md', '- P-45: related\n- P-119: see\n\n- [ ] P-120: One\n- P-99: related\n'],
    ['PLAN.md', '- [ ] US-001: One\n- US-002: Two (out of scope)\n'],
    [KIRO, '- [ ] 1. One\n  - 1.5 seconds at most\n  - _Requirements: 1.1_\n- 1.1\n'],
    ['PLAN.md', '- [ ] T001 One\n\nLater:\n- T002 Two\n'],
  ] as const) {
    assert.deepEqual(told(path, text), [], text);
  }
});

test('prose with ids of tasks is no list of tasks', () => {
  const kiro = '- [x] 1. One\n- [ ] 2. Two\n  - [ ] 2.1 Three\n  - [ ] 2.2 Four\n';
  const specKit = '# Tasks\n\n- [x] T001 One\n- [ ] T004 Four\n';
  for (const [path, text] of [
    [KIRO, `${kiro}\n## Requirements coverage\n- 1.1 User can login: task 1\n- 2.3 Cart\n`],
    [KIRO, `${kiro}\n## Notes\n- 3. Deploy it\n`],
    [KIRO, `${kiro}\nNotes:\n- 3. Deploy it\n`],
    [KIRO, `${kiro}- 4.2 MB is the limit\n- 3.11 Python is required\n- 24. December is the end\n`],
    ...[
      ...['T005 blocks T006', 'T018\u2013T020 parallel', 'T100: removed, see T004', 'T1000 tests'],
      ...['T007 - T009 later', 'T007, T008 together', 'T007 -> T008', 'T007 \u2192 T008'],
      ...['T007 depends on T001', 'T007 needs T001', '**T007**: (Dropped)', 'T007 \u2014 obsolete'],
    ].map(line => [SPEC_KIT, `${specKit}- ${line}\n`]),
    [SPEC_KIT, `${specKit}  - T101 covers the happy path\n`],
    [SPEC_KIT, `${specKit}\n## Notes\n\n- T101 covers the happy path\n`],
    [SPEC_KIT, `${specKit}\nText\n\n- T101 covers the happy path\n`],
  ] as [string, string][]) {
    assert.deepEqual(told(path, text), [], text);
  }
});

test('several lines with new ids in a row are all problems', () => {
  for (const [path, text, lines] of [
    [OPEN_SPEC, '- [ ] 1.1 a\n- 1.2 b\n- 1.3 c\n', [2, 3]],
    [KIRO, '- [ ] 1. a\n  - [ ] 1.1 b\n  - 1.2 c\n  - 1.3 d\n', [3, 4]],
    ['PLAN.md', '- US-001: a\n- US-002: b\n- [ ] US-003: c\n', [1, 2]],
    ['PLAN.md', '- US-002: a\n- US-001: b\n- [ ] US-003: c\n', [1, 2]],
    ['PLAN.md', '- [ ] Task 1: a\n- Task 3: b\n- Task 2: c\n', [2, 3]],
  ] as const) {
    const { problems } = parseStoryFile(path, text);
    assert.deepEqual(
      problems.map(({ line }) => line),
      lines,
      text,
    );
  }
});

test('the advice for a line with a tick keeps its task done', () => {
  for (const [line, advice] of [
    ['T900 \u2705 Two', '- [x] T900'],
    ['T900 Two [x]', '- [x] T900'],
    ['T900 Two', '- [ ] T900'],
  ] as const) {
    const { problems } = parseStoryFile(SPEC_KIT, `- [ ] T001 One\n- ${line}\n`);
    assert.deepEqual(
      problems.map(({ message }) => englishOf(message).includes(`Write it as "${advice} …"`)),
      [true],
    );
  }
});

test('the heading of a group of items is no task, and headings without items next to each other are some', () => {
  for (const [text, lines] of [
    ['## T010 Group\n\n### Sub\n- [ ] T011 a\n', []],
    ['## Tasks\n- [ ] T011 a\n\n## T010 Dependency graph\n\nText\n', []],
    ['## T010 Group\n- [ ] T011 a\n## T012 Notes\n', []],
    ['## Tasks\n- [ ] T011 a\n\n### T010 Cart\n\nText\n', [4]],
    ['# Tasks\n- [ ] T011 a\n\nText\n\n## T010 Dependency graph\n', []],
    ['# Tasks\n- [ ] T011 a\n## Notes\n## T010 Dependency graph\n', []],
    ['# Tasks\n- [ ] T011 a\n## T012 Cart\n### T013 Order\n\nText\n', [3, 4]],
    ['# Tasks\n- [ ] T011 a\n## Notes\n## T012 Cart\n\nText\n## T013 Order\n', [4, 7]],
  ] as const) {
    const { problems } = parseStoryFile(SPEC_KIT, text);
    assert.deepEqual(
      problems.map(({ line }) => line),
      lines,
      text,
    );
  }
});

test('thousands of such lines and headings are read quickly', () => {
  const each = (line: (index: number) => string) =>
    Array.from({ length: 20_000 }, (_, at) => line(at));
  const bullets = each(index => `- T${index + 2} x\n`).join('');
  const headings = each(index => `# T${index + 50_000} y\n`).join('');
  const states = each(index => `# Task ${index}\nStatus: [ ] open\n`).join('');
  const started = performance.now();
  for (const unit of ['1.', 'a/', '(', '**', 'x (done ']) {
    assert.ok(
      told(SPEC_KIT, `- [ ] T1 One\n- ${unit.repeat(300_000)} x\n- [ ] T2 Two\n`).length < 2,
    );
  }
  assert.equal(told(SPEC_KIT, `- [ ] T1 One\n${bullets}${headings}`).length, 40_000);
  assert.equal(told(SPEC_KIT, `- [ ] T1 One\n${states}`).length, 20_000);
  assert.ok(performance.now() - started < 5_000);
});
