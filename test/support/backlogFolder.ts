import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** One task of a folder as Backlog.md writes it. */
export interface BacklogTaskText {
  readonly id: string;
  readonly title: string;
  readonly status?: string;
  readonly dependencies?: readonly string[];
  /** Further lines of the front matter. */
  readonly more?: readonly string[];
  readonly criteria?: readonly string[];
}

/** The text of a task's file. */
export function backlogTask(task: BacklogTaskText): string {
  const { criteria = [], dependencies = [], id, more = [], status = 'To Do', title } = task;
  return [
    '---',
    `id: ${id}`,
    `title: ${title}`,
    `status: ${status}`,
    'assignee: []',
    "created_date: '2026-08-15 14:00'",
    'labels: []',
    dependencies.length === 0 ? 'dependencies: []' : 'dependencies:',
    ...dependencies.map(dependency => `  - ${dependency}`),
    ...more,
    '---',
    '',
    '## Description',
    '',
    '<!-- SECTION:DESCRIPTION:BEGIN -->',
    `What ${title} means.`,
    '<!-- SECTION:DESCRIPTION:END -->',
    '',
    '## Acceptance Criteria',
    '<!-- AC:BEGIN -->',
    ...criteria.map((criterion, index) => `- [ ] #${index + 1} ${criterion}`),
    '<!-- AC:END -->',
    '',
  ].join('\n');
}

/** Writes a folder of Backlog.md. @param dir absolute path of `backlog` */
export async function writeBacklog(
  dir: string,
  tasks: readonly BacklogTaskText[],
  config = 'project_name: "Shop"\ndefault_status: "To Do"\nstatuses: ["To Do", "In Progress", "Done"]\n',
): Promise<void> {
  await mkdir(path.join(dir, 'tasks'), { recursive: true });
  await writeFile(path.join(dir, 'config.yml'), config);
  for (const task of tasks) {
    await writeFile(path.join(dir, 'tasks', fileOf(task)), backlogTask(task));
  }
}

/** The name of a task's file. */
export function fileOf({ id, title }: Pick<BacklogTaskText, 'id' | 'title'>): string {
  return `${id} - ${title.replaceAll(' ', '-')}.md`;
}

/** All files of a folder, by path from there; without those that are gone before they are read, as while one is replaced. */
export async function filesIn(dir: string): Promise<Record<string, string>> {
  const names = (await readdir(dir, { recursive: true, withFileTypes: true })).filter(entry =>
    entry.isFile(),
  );
  const files: Record<string, string> = {};
  for (const { name, parentPath } of names) {
    const file = path.join(parentPath, name);
    const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw error;
      }
    });
    if (text !== undefined) {
      files[path.relative(dir, file)] = text;
    }
  }
  return files;
}
