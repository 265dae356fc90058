import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { warnOfMisread } from '../../src/orchestrator/iteration/misread.ts';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import type { Scope } from '../../src/orchestrator/run/scope.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** What a run says if an iteration changes a file like this. */
async function saidOf(name: string, before: string, after: string) {
  await using temp = await tempDir('ralph-fresh-misread-');
  const storyFile = path.join(temp.path, name);
  await writeFile(storyFile, after);
  const listOf = (text: string): StoryList => {
    const list = parseStoryFile(storyFile, text);
    assert.equal(list.kind, 'stories');
    return list as StoryList;
  };
  const said: string[] = [];
  const scope = {
    before: { stories: listOf(before) },
    place: { storyFile },
    append: (event: RunEventBody) => {
      assert.equal(event.type, 'warning');
      said.push(event.type === 'warning' ? englishOf(event.detail) : '');
    },
  };
  await warnOfMisread(scope as unknown as Scope, listOf(after), Buffer.from(before));
  return said.join('\n');
}

describe('what an iteration has written that is not read as it was meant', () => {
  const plan = (...lines: readonly string[]) => `# Plan\n\n${lines.join('\n')}\n`;

  test('is named where it is, also if the same was wrong elsewhere before', async () => {
    const old = ['- [ ] A', '- [ ] B', '- [] old'];
    const above = await saidOf('plan.md', plan(...old), plan('- [] new', ...old));
    assert.match(above, /plan\.md:3\. /);
    const next = plan(...old.slice(0, 2), '- [] new', '- [] old');
    assert.match(await saidOf('plan.md', plan(...old), next), /plan\.md:5\. /);
    assert.equal(await saidOf('plan.md', plan(...old), plan('- [ ] new', ...old)), '');
  });

  test('names the one of several messages that is new', async () => {
    const stories = '"userStories": [{"id": "A", "title": "a", "passes": false}]';
    const list = (...keys: readonly string[]) =>
      `{${[...keys.map(key => `"${key}": [{"id": "${key}-1", "title": "t", "passes": false}]`), stories].join(',\n')}}\n`;
    const said = await saidOf('prd.json', list('bugs'), list('backlog', 'bugs'));
    assert.match(said, /prd\.json:1\. .*backlog/);
    assert.doesNotMatch(said, /bugs/);
  });

  test('is said once of a story without an id, whatever its number is later', async () => {
    const story = (title: string, status: string) => `{"title": "${title}", "status": "${status}"}`;
    const list = (...stories: readonly string[]) =>
      `{"userStories": [\n${stories.join(',\n')}\n]}\n`;
    const old = [story('one', 'open'), story('two', 'finito'), story('three', 'fatto')];
    const more = list(story('new', 'open'), ...old);
    assert.equal(await saidOf('prd.json', list(...old), more), '');
    const wrong = list(story('new', 'finito'), ...old);
    assert.match(await saidOf('prd.json', list(...old), wrong), /prd\.json:2\. /);
  });
});
