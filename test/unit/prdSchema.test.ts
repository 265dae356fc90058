import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { LANGUAGES, readTexts } from '../../scripts/lib/l10nStrings.ts';
import { prdSchema } from '../../scripts/lib/prdSchema.ts';
import { schemaFiles } from '../../scripts/lib/schemaFiles.ts';
import { orchestrationText } from '../../src/orchestrator/stories/convert/yamlWriter.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { OTHER_STORY_FILE_PLACES } from '../../src/orchestrator/stories/storyPlaces.ts';

const root = path.resolve(import.meta.dirname, '../..');
// Real story files of strangers are kept next to the repository, not in it; `RALPH_CORPUS` may say where.
const corpus = process.env['RALPH_CORPUS'] ?? path.join(root, '../shared/corpus');
const schemaFile = path.join(root, 'schemas/prd.schema.json');

test('the files in schemas/ are up to date: if not, run "npm run schema"', async () => {
  const files = schemaFiles(root);
  assert.deepEqual(
    (await readdir(path.join(root, 'schemas'))).sort(),
    files.map(({ file }) => path.basename(file)).sort(),
  );
  for (const { file, text } of files) {
    assert.equal(await readFile(path.join(root, file), 'utf8'), text, file);
  }
});

test('the extension applies them where their files are, in the language of the window', async () => {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  assert.deepEqual(contributes.jsonValidation, [
    { fileMatch: ['prd.json'], url: '%schema.prd.file%' },
  ]);
  assert.deepEqual(contributes.yamlValidation, [
    {
      fileMatch: OTHER_STORY_FILE_PLACES.filter(place => /^\.claude\/.*ya?ml$/.test(place)),
      url: '%schema.orchestration.file%',
    },
    {
      // A tasks.yaml elsewhere may be anything.
      fileMatch: OTHER_STORY_FILE_PLACES.filter(place => /^\.ralphy\/.*ya?ml$/.test(place)),
      url: '%schema.ralphy.file%',
    },
  ]);
  const languages = ['', ...LANGUAGES.map(language => `.${language}`)];
  const named = ['prd', 'orchestration', 'ralphy'].flatMap(schema =>
    languages.map(
      language => readTexts(root, `package.nls${language}.json`)[`schema.${schema}.file`],
    ),
  );
  assert.deepEqual(
    named,
    schemaFiles(root).map(({ file }) => `./${file}`),
  );
});

test('the languages differ only in text', async () => {
  const shapeOf = (text: string) =>
    text.replaceAll(/"(?:description|label|title)": "(?:[^"\\]|\\.)*"|\$\{\d:[^}]*\}/g, '');
  for (const name of ['prd', 'orchestration', 'ralphy']) {
    const files = schemaFiles(root).filter(({ file }) => file.includes(name));
    const [english, ...others] = files;
    assert.equal(files.length, 1 + LANGUAGES.length);
    const lines = shapeOf(english?.text ?? '').split('\n');
    for (const { file, text } of others) {
      const differing = shapeOf(text)
        .split('\n')
        .filter((line, index) => line !== lines[index]);
      // The snippets' criterion that has no place to write over.
      assert.equal(new Set(differing).size, name === 'prd' ? 1 : 0, file);
    }
  }
});

test('each field has a description, and a new story is offered', async () => {
  const schema = JSON.parse(await readFile(schemaFile, 'utf8'));
  const { story } = schema.definitions;
  for (const [key, { description }] of Object.entries<{ description?: string }>(story.properties)) {
    assert.ok(description && description.length > 10, key);
  }
  assert.equal(story.defaultSnippets[0].body.passes, false);
  for (const key of ['id', 'title', 'acceptanceCriteria', 'passes', 'priority', 'dependsOn']) {
    assert.ok(key in story.properties, key);
  }
});

for (const [name, folder] of [
  ['the fixtures', path.join(root, 'test/fixtures/stories')],
  ['the corpus', path.join(corpus, 'prd')],
] as const) {
  test(`every story file of ${name} that the reader accepts is valid by the schema`, async t => {
    if (!existsSync(folder)) {
      t.diagnostic(`${folder} is not here`);
      return;
    }
    let checked = 0;
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith('.json')) {
        continue;
      }
      const content = await readFile(path.join(folder, file));
      if (parseStoryFile('prd.json', content).kind === 'stories') {
        const value = JSON.parse(content.toString('utf8').replace(/^\uFEFF/, ''));
        assert.equal(prdSchema.safeParse(value).error, undefined, file);
        checked += 1;
      }
    }
    assert.ok(checked > 5);
  });
}

test('the schema does not accept everything', () => {
  for (const value of ['text', 3, null, true]) {
    assert.ok(!prdSchema.safeParse(value).success);
  }
});

test('the schema of orchestrations accepts what a conversion writes, and completes its keys', () => {
  const [file] = schemaFiles(root).filter(
    ({ file }) => file === 'schemas/orchestration.schema.json',
  );
  const { definitions, properties } = JSON.parse(file?.text ?? '');
  const stories = [
    {
      ...{ id: 'a', title: 'A', description: 'What', criteria: [{ text: 'Tests pass' }] },
      ...{ done: true, dependsOn: ['b'], priority: 1, epic: 'One' },
      ...{ model: 'opus', effort: 'high', maxTurns: 3 },
    },
  ];
  const heading = { project: 'P', branchName: 'b', description: 'd' };
  const written = parse(orchestrationText({ ...heading, stories }));
  for (const [object, known] of [
    [written, properties],
    [written.phases[0], definitions.phase.properties],
    [written.phases[0].tasks[0], definitions.task.properties],
  ]) {
    for (const key of Object.keys(object)) {
      assert.ok(known[key]?.description, key);
    }
  }
  const [snippet] = definitions.task.defaultSnippets;
  const task = parseStoryFile('p.yaml', JSON.stringify({ phases: [{ tasks: [snippet.body] }] }));
  assert.ok(task.kind === 'stories' && task.problems.length === 0);
});

test('the schema of ralphy has its words, and its snippet is a list of tasks without problems', () => {
  const [file] = schemaFiles(root).filter(({ file }) => file === 'schemas/ralphy.schema.json');
  const { defaultSnippets, definitions, properties } = JSON.parse(file?.text ?? '');
  assert.ok(properties.tasks.description);
  for (const key of ['title', 'description', 'completed', 'parallel_group', 'depends_on']) {
    assert.ok(definitions.task.properties[key]?.description, key);
  }
  const list = parseStoryFile('.ralphy/tasks.yaml', JSON.stringify(defaultSnippets[0].body));
  assert.ok(list.kind === 'stories' && list.stories.length === 1 && list.problems.length === 0);
});
