import type { Message } from '../../../base/say.ts';
import { folderParts } from '../formats/folderText.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryFile, StoryProblem } from '../story.ts';
import { readStoryBytes, readStoryFileOrThrow, withTasksAside } from '../storyFile.ts';
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

export interface ToldFile {
  readonly file: StoryFile;
  readonly problems: readonly ToldProblem[];
  /** How many further problems there are. */
  readonly more: number;
}

/**
 * Reads a story file with all its problems, in the order of the file.
 * @throws {HumanError} if there is no file at `path`
 */
export async function readStoryProblems(path: string): Promise<ToldFile> {
  const bytes = await readStoryBytes(path);
  if (bytes === undefined) {
    return unreadable(await readStoryFileOrThrow(path));
  }
  const { diagnoses, file: read, more, text } = diagnoseStories(path, bytes);
  const file = await withTasksAside(read);
  const isReplaced = file.kind === 'invalid' && !read.problems.includes(file.problems[0]);
  if (isReplaced || file.problems[0]?.code === 'unreadable') {
    return unreadable(file);
  }
  const lines = new TextLines(text);
  const starts = new Map(folderParts(text).map(({ name, start }) => [name, start]));
  const inText = diagnoses.map(({ code, file: name, message, severity, start }): ToldProblem => {
    const first = starts.get(name ?? '') ?? 0;
    const { column, line } = lines.at(Math.max(start, first));
    const place = { line: line - lines.at(first).line + 1, column };
    return {
      ...{ code, message, severity },
      file: name,
      ...place,
    };
  });
  const told = new Set(read.problems);
  const others = file.problems.filter(problem => !told.has(problem));
  return {
    file,
    problems: [...inText, ...others.map(problem => toldOf(problem, 'warning'))],
    more,
  };
}

function unreadable(file: StoryFile): ToldFile {
  return { file, problems: file.problems.map(problem => toldOf(problem, 'error')), more: 0 };
}

function toldOf(
  { code, column, file, line, message }: StoryProblem,
  severity: Severity,
): ToldProblem {
  return { code, message, line, column, severity, file };
}
