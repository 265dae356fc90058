import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { applyEdits } from 'jsonc-parser';
import { parse, stringify } from 'yaml';
import { diagnoseStories, fixAll } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { packFolder, unpackFolder } from '../../src/orchestrator/stories/formats/folderText.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Stories whose ids and dependencies are often wrong, and other fields now and then. */
const entries = (needsKey: string, other: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.array(
    fc.record(
      {
        id: fc.constantFrom<unknown>('T-1', 'T-2', 'T-3', 'login', 'a: b', 4),
        title: fc.constantFrom('One', 'Two', "it's “#1”", '- [ ] x'),
        status: fc.constantFrom('pending', 'todo', 'done', 'erledigt', 'Neu'),
        [needsKey]: fc.array(fc.constantFrom('T-1', 't-2', 'logn', 'gone', '4', 'Two'), {
          maxLength: 3,
        }),
        ...other,
      },
      { requiredKeys: ['id', 'title'] },
    ) as fc.Arbitrary<Entry>,
    { minLength: 1, maxLength: 5 },
  );

const choices = {
  model: fc.constantFrom('opus', '-p', 'a b'),
  max_turns: fc.constantFrom<unknown>(3, 0, ['x']),
};
const commits = fc.constantFrom<unknown>([], ['4f1c09ab2e'], ['see the log'], 'none', { a: 1 }, 3);

const yaml = fc
  .record({
    tasks: entries('depends_on', { ...choices, commits }),
    hasPhases: fc.boolean(),
    indent: fc.integer({ min: 2, max: 4 }),
    indentSeq: fc.boolean(),
    flow: fc.constantFrom('block', 'any', 'flow'),
    eol: fc.constantFrom('\n', '\r\n'),
    hasLastLine: fc.boolean(),
  })
  .map(({ eol, flow, hasLastLine, hasPhases, indent, indentSeq, tasks }) => {
    const root = hasPhases ? { phases: [{ name: 'One', tasks }] } : { tasks };
    const text = stringify(root, {
      ...{ indent, indentSeq, collectionStyle: flow as 'any', lineWidth: 0 },
      aliasDuplicateObjects: false,
    });
    const lines = (hasLastLine ? text : text.trimEnd()).split('\n');
    // Comments behind and above what may go.
    const noted = lines.flatMap((line, i) => {
      const note = `${/^\s*/.exec(line)?.[0]}# kept ${i}`;
      return flow !== 'block'
        ? [line]
        : /^\s*(?:- )?(?:id|title): /.test(line)
          ? [note, line]
          : /^\s*depends_on:$/.test(line)
            ? [line, note]
            : [line];
    });
    return noted.join(eol);
  });
const jsonLines = (needsKey: string, extra = {}) =>
  fc
    .tuple(entries(needsKey, extra), fc.constantFrom('\n', '\r\n'))
    .map(([list, eol]) => list.map(entry => JSON.stringify(entry)).join(eol));
const beads = entries('dependencies', {}).chain(list =>
  fc.constantFrom('blocks', 'related', undefined).map(type =>
    list
      .map(({ dependencies, ...entry }) =>
        JSON.stringify({
          ...entry,
          dependencies: ((dependencies ?? []) as string[]).map(to => ({
            ...{ issue_id: entry['id'], depends_on_id: to, type },
          })),
        }),
      )
      .join('\n'),
  ),
);
const numbered = fc.array(
  fc.record(
    {
      id: fc.constantFrom<unknown>(1, 2, 3, '2'),
      title: fc.constantFrom('One', 'Two'),
      status: fc.constantFrom('pending', 'done', 'erledigt'),
      dependencies: fc.array(fc.constantFrom<unknown>(1, 2, '3', 9, '2.1'), { maxLength: 3 }),
    },
    { requiredKeys: ['id', 'title'] },
  ),
  { minLength: 1, maxLength: 4 },
);
const taskMaster = fc
  .tuple(numbered, numbered, fc.constantFrom(0, 2))
  .map(([tasks, subtasks, indent]) =>
    JSON.stringify(
      { master: { tasks: tasks.map((task, i) => (i === 0 ? { ...task, subtasks } : task)) } },
      null,
      indent,
    ),
  );
const sprints = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'done',
        'backlog',
        'ready-for-dev',
        'nearly',
        '"fast"',
        '&a half',
        '*a',
        '[x]',
      ),
      fc.constantFrom('', ' # kept 1'),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map(
    words =>
      `development_status:\n${words.map(([word, note], i) => `  1-${i + 1}-a: ${word}${note}\n`).join('')}`,
  );
const backlogs = fc
  .tuple(
    fc.array(
      fc.record({
        id: fc.constantFrom('task-1', 'TASK-2', 'task-3', 'task-3.1'),
        status: fc.constantFrom('To Do', '"Done"', "'Almost' # kept 1", 'todo', ''),
        needs: fc.array(
          fc.constantFrom(
            'task-1',
            '2',
            '"Task_3"',
            'task_1',
            'task1',
            'gone',
            'task-7',
            'task-3.1',
          ),
          { maxLength: 3 },
        ),
        isFlow: fc.boolean(),
        hasParent: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([tasks, eol]) => {
    const files = tasks.map(({ hasParent, id, isFlow, needs, status }, i) => {
      const list = needs.map(need => `${isFlow ? '' : '\n  - '}${need}`);
      const lines = [
        ...['---', `id: ${id}`, 'title: A', 'assignee: @anna', `status: ${status}`],
        `dependencies: ${isFlow ? `[${list.join(', ')}]` : list.join('')}`,
        ...(hasParent ? ['parent_task_id: task-3'] : []),
        ...['---', 'Text.'],
      ];
      return [`tasks/t${i}.md`, Buffer.from(lines.join('\n').replaceAll('\n', eol))] as const;
    });
    const content = { files: new Map(files), completed: ['task-7 - Old.md'], unread: [] };
    return packFolder(content).toString('utf8');
  });
const plans = fc
  .array(
    fc.tuple(
      fc.constantFrom(' ', 'x', '~', '?', '🚀'),
      fc.constantFrom('T001 one', 'two', 'T001 x'),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map(items => items.map(([mark, text]) => `- [${mark}] ${text}`).join('\n'));

/** What a file says: the fields of each story, in their order. */
const ofLines = (text: string): Entry[] => text.split('\n').map(line => JSON.parse(line));
const ofYaml = (text: string): Entry[] => {
  const root = parse(text, { intAsBigInt: true });
  return root.tasks ?? root.phases[0].tasks;
};
const ofTaskMaster = (text: string): Entry[] =>
  JSON.parse(text).master.tasks.flatMap(({ subtasks = [], ...task }: { subtasks?: Entry[] }) => [
    task,
    ...subtasks,
  ]);
const ofSprint = (text: string): Entry[] =>
  Object.values(parse(text).development_status).map(status => ({ status }));
const ofBacklog = (text: string): Entry[] =>
  [...unpackFolder(Buffer.from(text)).files.values()].map(file => {
    const [, matter = '', body] = file.toString().split('---');
    const { dependencies, ...entry } = parse(matter.replace('@', ''));
    return { ...entry, dependencies: dependencies ?? [], body };
  });
const ofPlan = (text: string): Entry[] =>
  text
    .split('\n')
    .map(line => ({ mark: /\[.\]/u.exec(line)?.[0], text: line.replace(/\[.\]/u, '') }));

const RELATIONS = ['giveId', 'removeDependency', 'setValue'];
const FORMATS: readonly (readonly [
  path: string,
  texts: fc.Arbitrary<string>,
  read: (text: string) => Entry[],
  kinds: readonly string[],
])[] = [
  ['o.yaml', yaml, ofYaml, [...RELATIONS, 'replaceDependency', 'removeField', 'setAside']],
  [
    '.ralph/tasks.jsonl',
    jsonLines('blockedBy', choices),
    ofLines,
    [...RELATIONS, 'replaceDependency', 'removeField'],
  ],
  [
    '.ralph/agent/tasks.jsonl',
    jsonLines('blocked_by'),
    ofLines,
    [...RELATIONS, 'replaceDependency'],
  ],
  ['.beads/issues.jsonl', beads, ofLines, ['removeDependency', 'setValue']],
  ['.taskmaster/tasks/tasks.json', taskMaster, ofTaskMaster, RELATIONS],
  ['sprint-status.yaml', sprints, ofSprint, ['setValue']],
  ['backlog', backlogs, ofBacklog, ['removeDependency', 'replaceDependency', 'setValue']],
  ['PLAN.md', plans, ofPlan, ['setValue']],
];

const FIELDS = [
  ...['depends_on', 'blockedBy', 'blocked_by', 'dependencies', 'id', 'status', 'mark', 'model'],
  ...['max_turns', 'commits', 'commits_note'],
];

/** The fields in which two stories differ. */
function differing(a: Entry, b: Entry): string[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].filter(key => !isDeepStrictEqual(a[key], b[key]));
}

describe('each fix removes its problem, and changes one field of one story', () => {
  for (const [path, texts, read, kinds] of FORMATS) {
    test(path, () => {
      const seen = new Set<string>();
      fc.assert(
        fc.property(texts, text => {
          const { diagnoses } = diagnoseStories(path, text);
          const weight = (found: readonly { readonly code: string }[], code: string) =>
            found.filter(other => other.code === code).length;
          for (const { code, fixes, message, start, end } of diagnoses) {
            assert.ok(0 <= start && start < end && end <= text.length);
            for (const { edits, kind } of fixes()) {
              seen.add(kind);
              const after = applyEdits(text, [...edits]);
              const now = diagnoseStories(path, after).diagnoses;
              const isFewer = weight(now, code) < weight(diagnoses, code);
              // Behind a cycle there may be another one.
              const isOther = !now.some(other => isDeepStrictEqual(other.message, message));
              assert.ok(
                isFewer || (code === 'circularDependency' && isOther),
                `${text}\n→\n${after}`,
              );
              const [before, then] = [read(text), read(after)];
              assert.equal(then.length, before.length);
              const changed = before.map((entry, i) => differing(entry, then[i] ?? {}));
              const fields = changed.flat();
              assert.equal(changed.filter(({ length }) => length > 0).length, 1);
              assert.equal(fields.length, kind === 'setAside' ? 2 : 1, `${kind} ${fields.join()}`);
              assert.ok(
                fields.every(field => FIELDS.includes(field)),
                fields.join(),
              );
              const kept = (all: string) => all.match(/# kept \d+/g);
              assert.deepEqual(kept(after), kept(text));
              assert.equal(/(?<!\r)\n/.test(after), /(?<!\r)\n/.test(text));
            }
          }
          const fixed = fixAll(path, text);
          assert.equal(fixAll(path, fixed), fixed);
        }),
        { numRuns: 40 },
      );
      assert.deepEqual([...seen].sort(), [...kinds].sort());
    });
  }
});
