import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { editStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { Story, StoryFormatName } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

// Real story files of strangers are kept next to the repository, not in it; `RALPH_CORPUS` may say where.
const corpus = process.env['RALPH_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus');
const manifest = join(corpus, 'MANIFEST.tsv');

const FORMATS = {
  prd: 'prd',
  plan: 'plan',
  'specs-index': 'specsIndex',
  beads: 'beads',
  orchestration: 'orchestration',
  ralphy: 'orchestration',
  'feature-list': 'prd',
  'task-master': 'taskMaster',
  'ralph-orchestrator': 'ralphOrchestrator',
  bmad: 'bmad',
  'spec-kit': 'plan',
  openspec: 'plan',
  kiro: 'plan',
} as const satisfies Readonly<Record<string, StoryFormatName>>;

type Kind = keyof typeof FORMATS;

interface Row {
  readonly kind: Kind;
  readonly file: string;
  /** Where it was in its repository. */
  readonly path: string;
  readonly expected: readonly string[];
  readonly alternative: string;
  readonly oddities: string;
}

async function readRows(): Promise<Row[]> {
  const [head = '', ...lines] = (await readFile(manifest, 'utf8')).trimEnd().split('\n');
  const names = head.split('\t');
  return lines
    .map(line => line.split('\t'))
    .map(cells => new Map(names.map((name, i) => [name, cells[i] ?? ''])))
    .map(row => ({
      kind: (row.get('file') ?? '').split('/')[0] as Kind,
      path: row.get('path') ?? '',
      file: row.get('file') ?? '',
      expected: ['stories', 'done', 'next_id', 'next_pos', 'next_title'].map(
        name => row.get(name) ?? '',
      ),
      alternative: row.get('answer') === 'debatable' ? (row.get('alt_answer') ?? '') : '',
      oddities: row.get('oddities') ?? '',
    }))
    .filter(row => Object.hasOwn(FORMATS, row.kind));
}

/** Our answer in the words of the manifest. A file without a story list counts as one without stories. */
function answer(content: string | Uint8Array): string[] {
  const file = parseStoryFile('prd.json', content);
  if (file.kind === 'invalid') {
    const noStories = file.problems[0].code === 'noStories';
    return noStories ? ['0', '0', 'none', '-', '-'] : ['-', '-', 'reject', '-', '-'];
  }
  const done = file.stories.filter(story => story.done).length;
  const { story } = nextStory(file.stories);
  return [
    `${file.stories.length}`,
    `${done}`,
    story?.id ?? 'none',
    story === undefined ? '-' : `${story.position + 1}`,
    // The manifest cuts titles.
    story === undefined ? '-' : story.title.slice(0, 60),
  ];
}

function checkAnswer(content: string | Uint8Array, row: Row): void {
  const got = answer(content);
  const isAlternative =
    row.alternative !== '' && row.alternative !== '-' && row.alternative.startsWith(got[2] ?? ' ');
  if (!isAlternative) {
    assert.deepEqual(got, row.expected);
  }
}

/** The file without the facts that an edit of one story's done state may change. */
function withoutDone(text: string, position: number): unknown {
  const root = JSON.parse(text.replace(/^\uFEFF/, ''));
  const lists = [root, root.userStories, root.stories, root.tasks, root.features, root.items];
  const story = lists.find(list => Array.isArray(list))?.[position] ?? {};
  for (const key of ['passes', 'tested', 'completed', 'complete', 'status']) {
    delete story[key];
  }
  return root;
}

function checkEdit(text: string): void {
  const file = parseStoryFile('prd.json', text);
  const next = file.kind === 'stories' ? nextStory(file.stories).story : undefined;
  if (next === undefined) {
    return;
  }
  const selector = { id: next.id, position: next.position };
  const edited = editStoryDone(text, selector, true);
  const after = parseStoryFile('prd.json', edited);
  assert.equal(after.kind, 'stories');
  if (file.kind === 'stories' && after.kind === 'stories') {
    assert.equal(after.stories[next.position]?.done, true);
    const rest = (stories: typeof after.stories) =>
      stories.filter(story => story.position !== next.position).map(({ line, ...story }) => story);
    assert.deepEqual(rest(after.stories), rest(file.stories));
  }
  assert.deepEqual(withoutDone(edited, next.position), withoutDone(text, next.position));
  // One or two values and no more: all lines but those are the same.
  const lines = new Set(text.split('\n'));
  const changed = edited.split('\n').filter(line => !lines.has(line));
  assert.ok(changed.length <= 2, changed.join('\n'));
  const back = editStoryDone(edited, selector, false);
  assert.deepEqual(answer(back), answer(text));
}

/** Ticks and unticks each story that has an id of its own, from either state: the file must be the same then. */
function checkThereAndBack(text: string, path: string): void {
  const file = parseStoryFile(path, Buffer.from(text));
  const stories = file.kind === 'stories' ? file.stories : [];
  const ids = stories.map(({ id }) => id);
  for (const { done, id, position } of stories) {
    if (ids.indexOf(id) !== ids.lastIndexOf(id)) {
      continue;
    }
    const there = tickText(text, { id, position }, !done, { path });
    assert.notEqual(there.text, text);
    assert.ok(there.undo !== undefined, `${id} has no undo`);
    const back = tickText(there.text, { id, position }, done, { path, undos: [there.undo] });
    assert.equal(back.text, text, `${id} is not as it was`);
    const again = tickText(back.text, { id, position }, !done, {
      path,
      undos: back.undo === undefined ? [] : [back.undo],
    });
    assert.equal(again.text, there.text);
  }
}

/** Compares a file of any kind but `prd` with the manifest, and ticks and unticks each of its stories. */
function checkOther(text: string, { kind, path, expected, oddities }: Row): void {
  const file = parseStoryFile(path, Buffer.from(text));
  assert.equal(file.format, FORMATS[kind]);
  const [count, doneCount, next = '-'] = expected;
  if (file.kind === 'invalid') {
    assert.deepEqual([file.problems[0].code, count], ['noStories', '0']);
    return;
  }
  const { problems, stories } = file;
  const done = stories.filter(story => story.done).length;
  assert.deepEqual([`${stories.length}`, `${done}`], [count, doneCount]);
  // Each is read whole, so what is named as almost an item would be a false problem.
  const strays = kind === 'plan' ? problems.filter(({ code }) => code === 'notAStory') : [];
  assert.deepEqual(strays, []);
  const story = nextStory(stories).story;
  if (next !== '-') {
    // The manifest quotes the text of a checkbox, cut, where a task has its id.
    const answers = [story?.id ?? 'none', story?.title.slice(0, next.length) ?? 'none'];
    assert.ok(answers.includes(next), answers.join(' | '));
  }
  for (const one of SMALL_TICKS.includes(kind) ? stories : []) {
    checkTick(text, path, one, !oddities.includes('other marks'));
  }
}

/** Kinds in whose files every story has a word or a mark that a tick replaces. */
const SMALL_TICKS: readonly Kind[] = ['plan', 'specs-index', 'beads', 'orchestration'];

/** One word or one mark changes, and changes back. */
function checkTick(text: string, path: string, story: Story, isUniform: boolean): void {
  const selector = { id: story.id, position: story.position };
  const there = editStoryDone(text, selector, !story.done, path);
  const [before, after] = difference(text, there);
  assert.match(`${before} ${after}`, /^[\w ~!-]* [\w ]*$/);
  const file = parseStoryFile(path, there);
  assert.ok(file.kind === 'stories');
  assert.equal(file.stories[story.position]?.done, !story.done);
  const back = editStoryDone(there, selector, story.done, path);
  if (isUniform && ['open', 'closed', 'pending', undefined].includes(story.status)) {
    assert.ok(back === text, `${story.id} is not as it was`);
  }
}

/** What is between the longest common begin and end of two texts. */
function difference(before: string, after: string): [string, string] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before.at(-1 - end) === after.at(-1 - end)
  ) {
    end++;
  }
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}

if (existsSync(manifest)) {
  const rows = await readRows();
  const variants: readonly (readonly [string, (text: string) => string])[] = [
    ['as it is', text => text],
    ['with CRLF', text => text.replaceAll(/\r?\n/g, '\r\n')],
    ['with a BOM', text => `\uFEFF${text}`],
  ];
  for (const [name, derive] of variants) {
    describe(`the corpus ${name}`, () => {
      for (const row of rows) {
        test(row.file, async () => {
          const text = derive(await readFile(join(corpus, row.file), 'utf8'));
          checkThereAndBack(text, row.kind === 'prd' ? 'prd.json' : row.path);
          if (row.kind !== 'prd') {
            checkOther(text, row);
            return;
          }
          checkAnswer(Buffer.from(text), row);
          checkEdit(text);
          // Where the manifest quotes a parser, our place must be the same.
          const place = /invalid JSON: .*line (\d+) column (\d+)/.exec(row.oddities);
          if (place !== null) {
            const file = parseStoryFile('prd.json', text);
            const problem = file.kind === 'invalid' ? file.problems[0] : undefined;
            assert.deepEqual([`${problem?.line}`, `${problem?.column}`], place.slice(1));
          }
        });
      }
    });
  }
} else {
  test('the corpus of real story files is missing, so nothing was compared with it', () => {
    assert.equal(existsSync(manifest), false);
  });
}
