import { isFolderText, packFolder, TASKS, unpackFolder } from '../../stories/formats/folderText.ts';
import type { StoryList } from '../../stories/story.ts';
import { matchStories } from '../../stories/storyMatching.ts';

/** Whether the settings of two folders agree on what the states of their tasks mean. A story file has none. */
export function haveSameSettings(before: Buffer, now: Buffer): boolean {
  const [old, found] = [before, now].map(bytes =>
    [...unpackFolder(bytes).files].flatMap(([name, content]) =>
      isSetting(name) ? `${name}\n${content.toString('latin1')}` : [],
    ),
  );
  return old?.join('\n') === found?.join('\n');
}

/**
 * An agent's folder of stories with the old settings, by which its files count: whoever changes what the states mean has not
 * marked a story.
 */
export function withOldSettings(before: Buffer, now: Buffer): Buffer {
  if (!isFolderText(before) || !isFolderText(now) || haveSameSettings(before, now)) {
    return now;
  }
  const { completed, files: found, unread } = unpackFolder(now);
  const files = new Map([
    ...[...found].filter(([name]) => !isSetting(name)),
    ...[...unpackFolder(before).files].filter(([name]) => isSetting(name)),
  ]);
  return packFolder({ files, completed, unread: unread.filter(name => !files.has(name)) });
}

/**
 * An agent's folder of stories with the old files of some: removed ones are there again, changed ones are as before. The
 * settings are as before, too: they say which stories are done.
 *
 * @param texts of the folder before and after, as in `folderText.ts`
 * @param ids of the stories to restore
 */
export function withOldFiles(
  before: StoryList,
  now: StoryList,
  texts: { readonly before: string; readonly now: string },
  ids: ReadonlySet<string>,
): string {
  const [old, found] = [texts.before, texts.now].map(text => unpackFolder(Buffer.from(text)));
  const files = new Map(found?.files);
  for (const name of [...files.keys()].filter(isSetting)) {
    files.delete(name);
  }
  const { pairs } = matchStories(before.stories, now.stories);
  const movedTo = new Map(pairs.map(pair => [pair.before, pair.after.file]));
  const wanted = new Map(
    before.stories.filter(({ id }) => ids.has(id)).map(one => [one.file, one]),
  );
  for (const [name, content] of old?.files ?? []) {
    const story = wanted.get(name);
    if (story !== undefined) {
      // The tool renames the file of a task whose title has changed.
      files.delete(movedTo.get(story) ?? name);
    }
    if (story !== undefined || isSetting(name)) {
      files.set(name, content);
    }
  }
  const { completed = [], unread = [] } = found ?? {};
  const isRestored = (name: string) => files.has(name);
  return packFolder({
    files,
    completed,
    unread: unread.filter(name => !isRestored(name)),
  }).toString();
}

function isSetting(name: string): boolean {
  return !name.startsWith(`${TASKS}/`);
}
