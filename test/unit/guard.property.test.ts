import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import { restoreStoryFile } from '../../src/orchestrator/iteration/guard/guard.ts';
import {
  describeGuardChange,
  findGuardChanges,
  isForbidden,
} from '../../src/orchestrator/iteration/guard/guardChanges.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile, readStoryFileOrThrow } from '../../src/orchestrator/stories/storyFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

type Entry = Record<string, unknown>;

const words = fc.oneof(
  fc.constantFrom(
    'Log in',
    'Log out',
    'List',
    'A',
    '',
    '"}]',
    '[{"id":"x"}',
    'passes',
    '\\',
    '鳥',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const doneMembers = fc.oneof(
  fc.record({ passes: fc.boolean() }),
  fc.record({ completed: fc.constantFrom(true, false, 'skipped') }),
  fc.record({ status: fc.constantFrom('todo', 'done', 'in_progress', 'Completed') }),
  fc.record({ passes: fc.boolean(), status: fc.constantFrom('active', 'pending', 'completed') }),
  fc.constant({}),
);
const criteria = fc.array(
  fc.oneof(words, fc.record({ text: words, done: fc.boolean() }), fc.record({ text: words })),
  { maxLength: 4 },
);
const texts = fc.record(
  {
    title: words,
    description: words,
    summary: words,
    acceptanceCriteria: criteria,
    steps: criteria,
    notes: words,
    priority: fc.nat(5),
    dependsOn: fc.array(fc.constantFrom('S0', 'S1'), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const entries = fc
  .record({
    stories: fc.array(fc.tuple(texts, doneMembers), { minLength: 1, maxLength: 6 }),
    ids: fc.constantFrom('own', 'own', 'own', 'none', 'same', 'some'),
  })
  .map(({ stories, ids }): Entry[] =>
    stories.map(([text, done], i) => ({
      ...(ids === 'own' || (ids === 'some' && i % 2 === 0) ? { id: `S${i}` } : {}),
      ...(ids === 'same' ? { id: 'S' } : {}),
      ...(ids === 'none' ? { title: 'x', description: 'd', steps: [] } : {}),
      ...text,
      ...done,
    })),
  );

/** One thing an agent may do to a list of stories, allowed or not. */
const deeds: fc.Arbitrary<(list: Entry[]) => Entry[]> = fc.oneof(
  fc.nat().map(at => (list: Entry[]) => list.filter((_, i) => i !== at % list.length)),
  fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => (list: Entry[]) => {
    const moved = [...list];
    moved.splice(to % (list.length + 1), 0, ...moved.splice(from % list.length, 1));
    return moved;
  }),
  fc.tuple(fc.nat(), texts, doneMembers, fc.constantFrom('S1', 'N', undefined)).map(
    ([at, text, done, id]) =>
      (list: Entry[]) =>
        list.toSpliced(at % (list.length + 1), 0, { ...(id && { id }), ...text, ...done }),
  ),
  // A single fact, a whole other story, another id, a story's double.
  fc
    .tuple(
      fc.nat(),
      fc.oneof(
        texts,
        doneMembers,
        fc.constantFrom<Entry>({ id: 'S1' }, { id: 'other' }, { passes: true }, { notes: 'n' }),
      ),
    )
    .map(
      ([at, members]) =>
        (list: Entry[]) =>
          list.map((entry, i) => (i === at % list.length ? { ...entry, ...members } : entry)),
    ),
  fc.tuple(fc.nat(), fc.nat()).map(
    ([at, which]) =>
      (list: Entry[]) =>
        list.map((entry, i) => {
          const {
            [Object.keys(entry)[which % Math.max(1, Object.keys(entry).length)] ?? '']: _,
            ...rest
          } = entry;
          return i === at % list.length ? rest : entry;
        }),
  ),
  // Marks and words of single criteria.
  fc.tuple(fc.nat(), fc.nat(), fc.oneof(words, fc.record({ done: fc.boolean() }))).map(
    ([at, which, change]) =>
      (list: Entry[]) =>
        list.map((entry, i) => {
          const items = entry['acceptanceCriteria'];
          if (i !== at % list.length || !Array.isArray(items)) {
            return entry;
          }
          const changedItems = items.map((item, n) =>
            n !== which % items.length
              ? item
              : typeof change === 'string'
                ? change
                : typeof item === 'object'
                  ? { ...item, ...change }
                  : { text: item, ...change },
          );
          return { ...entry, acceptanceCriteria: changedItems };
        }),
  ),
  fc.constant((list: Entry[]) => list.map(entry => ({ ...entry, passes: true, status: 'done' }))),
  fc.constant(() => []),
);

const layouts = fc.record({
  key: fc.constantFrom('userStories', 'stories', 'tasks', undefined),
  indent: fc.constantFrom('', '  ', '\t'),
  bom: fc.boolean(),
  crlf: fc.boolean(),
});

function textOf(
  list: readonly Entry[],
  layout: { key: string | undefined; indent: string; bom: boolean; crlf: boolean },
): string {
  const root = layout.key === undefined ? list : { project: 'p', [layout.key]: list, after: [1.5] };
  const text = JSON.stringify(root, null, layout.indent);
  return (layout.bom ? '\uFEFF' : '') + (layout.crlf ? text.replaceAll('\n', '\r\n') : text);
}

/** What becomes of the whole file in the end. */
const fates = fc.oneof(
  { weight: 8, arbitrary: fc.constant((text: string): string | undefined => text) },
  {
    weight: 1,
    arbitrary: fc.nat().map(at => (text: string) => text.slice(0, at % (text.length + 1))),
  },
  { weight: 1, arbitrary: fc.constant((): string | undefined => undefined) },
  { weight: 1, arbitrary: fc.constant((): string | undefined => '{"stories": "none"}') },
);

test('after any tampering no forbidden change is left, and the own story is as the agent left it', async () => {
  await using temp = await tempDir('guard-property-');
  const file = path.join(temp.path, 'prd.json');
  const asideDir = path.join(temp.path, 'aside');
  let restorations = 0;
  await fc.assert(
    fc.asyncProperty(
      entries,
      layouts,
      layouts,
      fc.boolean(),
      fc.array(deeds, { maxLength: 5 }),
      fates,
      fc.nat(),
      fc.option(fc.nat(), { nil: undefined }),
      async (list, layout, otherLayout, sameLayout, actions, fate, own, person) => {
        const beforeText = Buffer.from(textOf(list, layout)).toString();
        const before = parseStoryFile(file, beforeText);
        fc.pre(before.kind === 'stories');
        const idAt = (n: number) => before.stories[n % before.stories.length]?.id ?? '';
        const storyId = idAt(own);
        const handled = new Set(person === undefined ? [] : [idAt(person)]);
        const tampered = actions.reduce((now, act) => (now.length === 0 ? now : act(now)), list);
        const cut = fate(textOf(tampered, sameLayout ? layout : otherLayout));
        // As bytes: half a character becomes another one.
        const afterText = cut === undefined ? undefined : Buffer.from(cut).toString();
        await rm(file, { force: true });
        if (afterText !== undefined) {
          await writeFile(file, afterText);
        }
        const after = afterText === undefined ? undefined : parseStoryFile(file, afterText);
        const changes = findGuardChanges({ before, after, storyId, handled });
        changes.forEach(describeGuardChange);

        const result = await restoreStoryFile({
          path: file,
          beforeBytes: Buffer.from(beforeText),
          changes,
          storyId,
          handled,
          asideDir,
        });

        assert.deepEqual(result.left, [], englishOf(result.problem ?? ''));
        assert.deepEqual(result.restored, changes.filter(isForbidden));
        const now = await readStoryFileOrThrow(file);
        assert.equal(now.kind, 'stories');
        assert.deepEqual(
          findGuardChanges({ before, after: now, storyId, handled }).filter(isForbidden),
          [],
        );
        if (result.restored.length === 0) {
          assert.equal(await readFile(file, 'utf8'), afterText);
        } else {
          restorations++;
        }
        if (result.keptAside !== undefined) {
          assert.equal(await readFile(result.keptAside, 'utf8'), afterText);
        }
        // Where ids tell stories apart, it is plain which one is meant.
        const one = (stories: readonly Story[]) => {
          const found = stories.filter(({ id }) => id === storyId);
          return found.length === 1 && !storyId.startsWith('#') ? found[0]?.done : undefined;
        };
        const left = after?.kind === 'stories' ? one(after.stories) : undefined;
        if (left !== undefined && one(before.stories) !== undefined && now.kind === 'stories') {
          assert.equal(one(now.stories), left);
        }
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(restorations > 50, String(restorations));
});
