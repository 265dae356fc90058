import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { findStoryFile } from '../../src/orchestrator/stories/knownSources.ts';
import { parseStoryText, readStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { type BenchStory, benchStories, storyFileText } from './benchWorkspace.ts';
import { median, medianMs, type Row } from './row.ts';

const STORIES = 5_000;
const MAX_MS = 50;
const MAX_FOLDER_MS = 1_500;
/** The slowest text, `orchestration.yaml`, takes 3 to 4 times as long as a `prd.json`. */
const MAX_TEXT_RATIO = 6;

/** Reads 5,000 stories of each source, from text or files to the model, compared with those of a `prd.json`. */
export async function storySources(): Promise<Row[]> {
  const stories = benchStories(STORIES, STORIES / 2);
  const reading = (file: string, bytes: Buffer) =>
    medianMs(() => requireAll(parseStoryText(path.join('/bench', file), bytes).file), 15);
  const prdMs = reading('prd.json', Buffer.from(storyFileText(stories)));
  const rows = Object.entries(textsOf(stories)).map(([file, text]) => {
    const bytes = Buffer.from(text);
    const what = `${STORIES} stories as ${file} (${(bytes.length / 1e6).toFixed(1)} MB), against prd.json`;
    return row(what, { ms: reading(file, bytes), most: MAX_MS, prdMs, mostRatio: MAX_TEXT_RATIO });
  });
  return [...rows, await folderRow(stories, prdMs)];
}

function textsOf(stories: readonly BenchStory[]): Record<string, string> {
  const parsed = parseStoryText('prd.json', storyFileText(stories));
  const { file } = parsed;
  if (file.kind === 'invalid') {
    throw new Error('The stories were not read.');
  }
  const now = new Date();
  const as = (target: 'yaml' | 'plan' | 'tasks') =>
    convertStories({ ...parsed, file }, target, now).text;
  const issues = stories.map(({ description, id, passes, title }, index) => ({
    ...{ id, title, description, status: passes ? 'closed' : 'open', priority: 2 },
    issue_type: 'task',
    dependencies: index === 0 ? [] : [{ depends_on_id: stories[index - 1]?.id, type: 'blocks' }],
  }));
  const features = stories.map(({ acceptanceCriteria, description, passes }) => ({
    ...{ category: 'functional', description, steps: acceptanceCriteria, passes },
  }));
  const tasks = stories.map(({ description, passes, title }, index) => ({
    ...{ id: index + 1, title, description, status: passes ? 'done' : 'pending' },
    ...{ priority: 'medium', dependencies: index === 0 ? [] : [index], subtasks: [] },
  }));
  return {
    'orchestration.yaml': as('yaml'),
    'PLAN.md': as('plan'),
    '.ralph/tasks.jsonl': as('tasks'),
    '.beads/issues.jsonl': issues.map(issue => `${JSON.stringify(issue)}\n`).join(''),
    'feature_list.json': JSON.stringify(features, null, 2),
    '.taskmaster/tasks/tasks.json': JSON.stringify({ master: { tasks } }, null, 2),
  };
}

/** A folder with a file for each task. */
async function folderRow(stories: readonly BenchStory[], prdMs: number): Promise<Row> {
  const { path: dir, remove } = await tempDir('ralph-fresh-bench-');
  try {
    const tasks = path.join(dir, 'backlog', 'tasks');
    await mkdir(tasks, { recursive: true });
    await writeFile(path.join(dir, 'backlog', 'config.yml'), 'project_name: Bench\n');
    for (const [index, { description, passes, title }] of stories.entries()) {
      const id = `task-${index + 1}`;
      await writeFile(
        path.join(tasks, `${id} - ${title.replaceAll(' ', '-')}.md`),
        `---\nid: ${id}\ntitle: ${title}\nstatus: ${passes ? 'Done' : 'To Do'}\nassignee: []\nlabels: []\ndependencies: []\n---\n\n## Description\n\n${String(description)}\n`,
      );
    }
    const folder = await findStoryFile(dir);
    if (folder === undefined) {
      throw new Error('The folder was not found.');
    }
    const times: number[] = [];
    for (let run = 0; run < 5; run++) {
      const begin = performance.now();
      requireAll(await readStoryFile(folder));
      times.push(performance.now() - begin);
      // The last result is kept, and only used if nothing has changed.
      await readStoryFile(path.join(dir, 'backlog', 'config.yml'));
    }
    const what = `a folder of ${STORIES} tasks, a file each, against prd.json`;
    return row(what, { ms: median(times), most: MAX_FOLDER_MS, prdMs });
  } finally {
    await remove();
  }
}

function requireAll(file: Awaited<ReturnType<typeof readStoryFile>>): void {
  if (file?.kind !== 'stories' || file.stories.length !== STORIES) {
    throw new Error(`Not all stories were read: ${JSON.stringify(file?.problems.slice(0, 2))}`);
  }
}

function row(
  what: string,
  {
    most,
    mostRatio,
    ms,
    prdMs,
  }: {
    readonly ms: number;
    readonly most: number;
    readonly prdMs: number;
    readonly mostRatio?: number;
  },
): Row {
  const isInRatio = mostRatio === undefined || ms <= mostRatio * prdMs;
  return {
    what,
    budget: mostRatio === undefined ? `≤ ${most} ms` : `≤ ${most} ms, ≤ ${mostRatio}`,
    value: `${ms.toFixed(0)} ms`,
    ratio: (ms / prdMs).toFixed(1),
    isWithin: ms <= most && isInRatio,
    decides: !isInRatio,
  };
}
