import { readFile } from 'node:fs/promises';
import type { Message } from '../../../base/say.ts';
import { folderParts } from '../formats/folderText.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryFile } from '../story.ts';
import { parseStoryFile, readFolderOrThrow, readStoryFileOrThrow } from '../storyFile.ts';
import { isStoryFolder } from '../storyFolder.ts';
import { diagnoseStories } from './diagnose.ts';
import type { Severity } from './storyDiagnosis.ts';

/** A problem in words, the same as in an editor. */
export interface ToldProblem {
  readonly code: string;
  readonly severity: Severity;
  /** A sentence that names the fix. */
  readonly message: Message;
  /** If the source is a folder: the file, from there, with forward slashes. */
  readonly file?: string | undefined;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
}

/**
 * Reads a story file with all its problems, in the order of the file.
 * @throws HumanError if there is no file at `path`, or a folder cannot be read any more
 */
export async function readStoryProblems(
  path: string,
): Promise<{ readonly file: StoryFile; readonly problems: readonly ToldProblem[] }> {
  const file = await readStoryFileOrThrow(path);
  if (file.problems[0]?.code === 'unreadable') {
    return {
      file,
      problems: file.problems.map(problem => ({ ...facts(problem), severity: 'error' })),
    };
  }
  // The first read has checked that it is a plain file, or a folder of tasks, and small enough.
  const bytes = isStoryFolder(path) ? await readFolderOrThrow(path) : await readFile(path);
  const now = parseStoryFile(path, bytes);
  const { diagnoses, text } = diagnoseStories(path, bytes.toString('utf8'));
  const lines = new TextLines(text);
  const starts = new Map(folderParts(text).map(({ name, start }) => [name, start]));
  return {
    file: now,
    problems: diagnoses.map(({ code, file: name, message, severity, start }) => {
      const first = starts.get(name ?? '') ?? 0;
      const { column, line } = lines.at(Math.max(start, first));
      const place = { line: line - lines.at(first).line + 1, column };
      return {
        ...{ code, message, severity },
        file: name,
        ...place,
      };
    }),
  };
}

function facts({ code, column, file, line, message }: Omit<ToldProblem, 'severity'>) {
  return { code, message, line, column, file };
}
