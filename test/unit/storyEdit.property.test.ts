import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { findJsonError } from '../../src/orchestrator/stories/formats/jsonError.ts';
import { TextLines } from '../../src/orchestrator/stories/formats/textLines.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

interface Style {
  readonly indent: string;
  readonly eol: string;
  readonly bom: boolean;
  readonly lastNewline: boolean;
  readonly ascii: boolean;
}

const styles: fc.Arbitrary<Style> = fc.record({
  indent: fc.constantFrom('', '  ', '    ', '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  lastNewline: fc.boolean(),
  ascii: fc.boolean(),
});

const doneFields = fc.oneof(
  fc.record({ passes: fc.boolean() }),
  fc.record({ tested: fc.boolean() }),
  fc.record({ completed: fc.constantFrom(true, false, 'skipped') }),
  fc.record({ complete: fc.boolean() }),
  fc.record({ status: fc.constantFrom('todo', 'done', 'in_progress', 'Completed', 'weird') }),
  fc.record({ passes: fc.boolean(), status: fc.constantFrom('active', 'pending', 'completed') }),
  fc.record({ passes: fc.boolean(), completed: fc.boolean() }),
  fc.constant({}),
);

const hardText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '"passes": false',
    'a\\',
    '}]',
    '{"id":"x"}',
    '鳥\u2028',
    '\u0000\t',
    '__proto__',
  ),
);

const others = fc.record(
  {
    title: hardText,
    description: hardText,
    priority: fc.oneof(fc.integer(), fc.double(), fc.constantFrom('high', 'P2', null)),
    acceptanceCriteria: fc.array(
      fc.oneof(hardText, fc.record({ text: hardText, passes: fc.boolean() })),
      {
        maxLength: 3,
      },
    ),
    dependsOn: fc.array(fc.constantFrom('S0', 'S1', 'gone'), { maxLength: 2 }),
    model: fc.constantFrom('opus', '-p', 'a b', null),
    effort: fc.constantFrom('high', 'S', 3),
    maxTurns: fc.constantFrom(7, '7', 0),
    extra: fc.jsonValue({ maxDepth: 3 }),
  },
  { requiredKeys: [] },
);

const roots = fc
  .record({
    stories: fc.array(fc.tuple(others, doneFields, fc.boolean()), { minLength: 1, maxLength: 6 }),
    key: fc.constantFrom(undefined, 'userStories', 'stories', 'tasks', 'features', 'items'),
    ids: fc.constantFrom('own', 'none', 'same'),
    before: fc.jsonValue({ maxDepth: 2 }),
    after: fc.jsonValue({ maxDepth: 2 }),
  })
  .map(({ stories, key, ids, before, after }) => {
    const list = stories.map(([rest, done, doneFirst], i) => ({
      ...(ids === 'none'
        ? { category: 'c', steps: [], description: 'd' }
        : { id: ids === 'own' ? `S${i}` : 'S', title: 't' }),
      ...(doneFirst ? { ...done, ...rest } : { ...rest, ...done }),
    }));
    return key === undefined ? list : { before, [key]: list, after };
  });

const texts = fc.tuple(roots, styles).map(([root, style]) => {
  let text = JSON.stringify(root, null, style.indent);
  if (style.ascii) {
    text = text.replaceAll(
      /[^\x20-\x7e\n\t]/g,
      c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  text = text.replaceAll('\n', style.eol);
  return `${style.bom ? '\uFEFF' : ''}${text}${style.lastNewline ? style.eol : ''}`;
});

const DONE_KEYS = ['passes', 'tested', 'completed', 'complete', 'status'];

function storiesOf(text: string): readonly Story[] {
  const file = parseStoryFile('prd.json', text);
  assert.equal(file.kind, 'stories', JSON.stringify(file));
  return file.kind === 'stories' ? file.stories : [];
}

/** All stories but one; without their lines, which move when a key is added. */
function without(stories: readonly Story[], position: number): unknown[] {
  return stories.filter(story => story.position !== position).map(({ line, ...story }) => story);
}

/** The parsed file without the done keys of one story. */
function withoutDone(text: string, position: number): unknown {
  const root = JSON.parse(text.replace(/^\uFEFF/, ''));
  const list = Array.isArray(root)
    ? root
    : (root.userStories ?? root.stories ?? root.tasks ?? root.features ?? root.items);
  for (const key of DONE_KEYS) {
    delete list[position][key];
  }
  return root;
}

/** The text as texts, white space, punctuation and the rest; joined again they are the text. */
function tokensOf(text: string): readonly string[] {
  return text.match(/"(?:[^"\\]|\\[\s\S])*"|\s+|[{}[\],:]|[^\s"{}[\],:]+/g) ?? [];
}

/** Checks that only values of done keys differ, or that one done key was added. */
function assertOnlyDoneChanged(before: string, after: string): void {
  const old = tokensOf(before);
  const now = tokensOf(after);
  const differing = old.flatMap((token, i) => (token === now[i] ? [] : [i]));
  if (old.length === now.length) {
    assert.ok(differing.length >= 1 && differing.length <= 2);
    for (const at of differing) {
      const [colon, key] = now
        .slice(0, at)
        .filter(token => token.trim() !== '')
        .toReversed();
      assert.equal(colon, ':');
      assert.ok(DONE_KEYS.includes(JSON.parse(key ?? '')), key);
    }
    return;
  }
  const first = differing[0] ?? old.length;
  const added = now.slice(first, first + now.length - old.length);
  assert.deepEqual([...now.slice(0, first), ...now.slice(first + added.length)], old);
  assert.deepEqual(
    added.filter(token => token.trim() !== '' && token !== ',').slice(1, 2),
    [':'],
    added.join(''),
  );
}

describe('any story file', () => {
  test('an edit has its effect, and everything else stays byte for byte', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.boolean(), (text, pick, done) => {
        const stories = storiesOf(text);
        const story = stories[pick % stories.length];
        assert.ok(story);
        const { id, position } = story;
        const edited = editStoryDone(text, { id, position }, done);
        if (story.done === done) {
          assert.equal(edited, text);
          return;
        }
        const now = storiesOf(edited);
        assert.equal(now[position]?.done, done);
        assert.deepEqual(without(now, position), without(stories, position));
        assert.deepEqual(withoutDone(edited, position), withoutDone(text, position));

        assertOnlyDoneChanged(text, edited);
        assert.equal(edited.startsWith('\uFEFF'), text.startsWith('\uFEFF'));
        assert.equal(/(?<!\r)\n/.test(edited), /(?<!\r)\n/.test(text));
      }),
      { numRuns: 400 },
    );
  });

  test('an edit and its reverse restore the stories', () => {
    fc.assert(
      fc.property(texts, fc.nat(), (text, pick) => {
        const stories = storiesOf(text);
        const story = stories[pick % stories.length];
        assert.ok(story);
        const selector = { id: story.id, position: story.position };
        const there = editStoryDone(text, selector, !story.done);
        const back = editStoryDone(there, selector, story.done);
        const facts = (list: readonly Story[]) => list.map(({ status, line, ...rest }) => rest);
        assert.deepEqual(facts(storiesOf(back)), facts(stories));
        assert.deepEqual(withoutDone(back, story.position), withoutDone(text, story.position));
      }),
      { numRuns: 300 },
    );
  });

  test('the line of a story is that of its first brace', () => {
    fc.assert(
      fc.property(texts, text => {
        const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n/);
        for (const story of storiesOf(text)) {
          assert.match(lines[story.line - 1] ?? '', /\{/);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('the next story is open, and all its dependencies are done', () => {
    fc.assert(
      fc.property(texts, text => {
        const stories = storiesOf(text);
        const { story } = nextStory(stories);
        if (story !== undefined) {
          assert.equal(story.done, false);
          for (const id of story.dependsOn) {
            const same = stories.filter(other => other.id === id);
            assert.ok(same.length > 0 && same.every(other => other.done));
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('any content', () => {
  test('bytes are read without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const file = parseStoryFile('prd.json', bytes);
        assert.match(file.hash, /^[0-9a-f]{64}$/);
      }),
      { numRuns: 500 },
    );
  });

  test('JSON of any type is read without an error', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        const file = parseStoryFile('prd.json', text);
        assert.notEqual(file.kind === 'invalid' && file.problems[0].code, 'invalidJson');
      }),
      { numRuns: 500 },
    );
  });

  test('a damaged file is refused exactly when JSON.parse refuses it, with a place inside the file', () => {
    const piece = fc.constantFrom(
      '"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\',
      '\n',
      '/',
      '0',
      '.',
      'e',
      '-',
      'null',
      ' ',
      '\u00a0',
      "'",
      'é',
      '\uFEFF',
    );
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(3), piece, (whole, at, cut, insert) => {
        const plain = whole.replace(/^\uFEFF/, '');
        const place = at % (plain.length + 1);
        const text = plain.slice(0, place) + insert + plain.slice(place + cut);
        const lines = new TextLines(text);
        const error = findJsonError(text, lines);
        let refused = false;
        try {
          JSON.parse(text);
        } catch {
          refused = true;
        }
        assert.equal(error !== undefined, refused, englishOf(error?.message ?? ''));
        if (error !== undefined) {
          assert.ok(error.offset >= 0 && error.offset <= text.length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
