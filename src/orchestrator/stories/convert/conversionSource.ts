import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import type { StoryList } from '../story.ts';
import {
  noStoryFile,
  type ParsedStoryFile,
  parseStoryText,
  problemOfFile,
  problemWords,
  readStoryBytes,
  readStoryFileOrThrow,
  withTasksAside,
} from '../storyFile.ts';
import { documentsNextTo } from '../storyPlaces.ts';

/** A file with stories. */
export type ConversionSource = ParsedStoryFile & {
  readonly file: StoryList;
  /** The names of documents next to it that agents are led to, if there are any. */
  readonly documents?: readonly string[];
};

/**
 * Reads a file with stories that are to be converted, and which documents are next to it that its agents are led to.
 * @throws {HumanError} if there is none, it cannot be used, or it has no stories
 */
export async function conversionSource(path: string): Promise<ConversionSource> {
  const content = await readStoryBytes(path);
  // Says why it cannot be read.
  const read = content === undefined ? await readStoryFileOrThrow(path) : undefined;
  const parsed = content === undefined ? undefined : parseStoryText(path, content);
  const found = read ?? parsed?.file;
  const file = found && (await withTasksAside(found));
  if (file?.kind === 'invalid') {
    const [problem] = file.problems;
    const { file: inFolder, line, message } = problem;
    throw new HumanError(
      inFolder === undefined
        ? problemOfFile(path, problemWords(problem))
        : say('{0}, line {1}: {2}', join(path, inFolder), line, message),
    );
  }
  if (file === undefined || parsed === undefined) {
    throw new HumanError(noStoryFile(path));
  }
  if (file.stories.length === 0) {
    throw new HumanError(
      say('There are no stories in {0}: no checkboxes, tasks or entries.', path),
    );
  }
  const documents = documentsNextTo(path).filter(name => existsSync(join(dirname(path), name)));
  return { ...parsed, file, documents };
}
