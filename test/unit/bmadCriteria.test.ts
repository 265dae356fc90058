import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { readBmadCriteria } from '../../src/orchestrator/stories/formats/bmadCriteria.ts';
import { readDetailCriteria } from '../../src/orchestrator/stories/storyDetails.ts';
import { readStoryList } from '../../src/orchestrator/stories/storyFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

const file = (criteria: string) =>
  `# Story 1.1: Log in\n\nStatus: ready-for-dev\n\n## Story\n\n- As a user\n\n## Acceptance Criteria\n${criteria}\n## Tasks / Subtasks\n\n- [ ] Build (AC: 1)\n`;
const texts = (criteria: string) => readBmadCriteria(file(criteria)).map(({ text }) => text);

describe('the acceptance criteria in the file of a BMAD story', () => {
  test('are the items of a list, with the lines below each', () => {
    const list =
      '\n1. **Given** a user\n   **When** the password fits\n   - and the mail\n\n   **Then** they are in\n2. Others are refused\n';
    assert.deepEqual(texts(list), [
      'Given a user When the password fits - and the mail Then they are in',
      'Others are refused',
    ]);
    assert.deepEqual(texts(list.replaceAll('\n', '\r\n')), texts(list));
  });

  test('may be ticked', () => {
    assert.deepEqual(readBmadCriteria(file('- [x] One\n- [ ] Two\n- Three\n')), [
      { text: 'One', done: true },
      { text: 'Two', done: false },
      { text: 'Three', done: undefined },
    ]);
  });

  test('are headings with what is below, or paragraphs', () => {
    assert.deepEqual(texts('\n### AC1: Log in\n\n- Given\n- Then\n\n### AC2\nOut\n'), [
      'AC1: Log in - Given - Then',
      'AC2 Out',
    ]);
    assert.deepEqual(texts('\n**AC1:** In\nand out\n\n<!-- - none -->\nNext\n'), [
      'AC1: In and out',
      'Next',
    ]);
  });

  test('are none without such a section', () => {
    assert.deepEqual(readBmadCriteria('# Story\n\n- [ ] One\n'), []);
    assert.deepEqual(texts('\n'), []);
  });

  test('are read next to the list or in its story_location, and never from outside', async () => {
    await using temp = await tempDir('ralph-fresh-bmad-');
    const workspace = path.join(temp.path, 'w');
    const list = path.join(workspace, 'docs', 'sprint-status.yaml');
    await mkdir(path.join(workspace, 'docs', 'stories'), { recursive: true });
    await mkdir(path.join(temp.path, 'outside'));
    const write = (location: string) =>
      writeFile(
        list,
        `story_location: ${location}\ndevelopment_status:\n  1-1-log-in: ready-for-dev\n`,
      );
    const read = async () => {
      const stories = (await readStoryList(list))?.stories ?? [];
      assert.equal(stories.length, 1);
      const [story] = stories;
      const found = story && (await readDetailCriteria(workspace, list, story));
      return found?.map(({ text }) => text);
    };
    await write('"{project-root}/docs/stories"');
    assert.deepEqual(await read(), []);
    await writeFile(path.join(workspace, 'docs/stories/1-1-log-in.md'), file('- There\n'));
    assert.deepEqual(await read(), ['There']);
    await write('docs/stories # moved');
    assert.deepEqual(await read(), ['There']);
    await writeFile(path.join(temp.path, 'outside/1-1-log-in.md'), file('- Outside\n'));
    await symlink(path.join(temp.path, 'outside'), path.join(workspace, 'docs/link'));
    for (const outside of ['../outside', path.join(temp.path, 'outside'), 'docs/link']) {
      await write(outside);
      assert.deepEqual(await read(), []);
    }
    await writeFile(path.join(workspace, 'docs/1-1-log-in.md'), file('- Here\n'));
    assert.deepEqual(await read(), ['Here']);
  });
});
