import { applyEdits, type Edit } from 'jsonc-parser';
import { once } from '../../../base/once.ts';
import { contentOffset, type FolderPart, folderParts, withFile } from '../formats/folderText.ts';
import { isStatusKey } from '../formats/prdKeys.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryFile, StoryFormatName, StoryProblem } from '../story.ts';
import { parseStoryText } from '../storyFile.ts';
import { exactTrials, type Trial } from './fixTrials.ts';
import { itemFix } from './itemFix.ts';
import { PartDiagnoses } from './partDiagnoses.ts';
import { checkEntries } from './prdChecks.ts';
import { PrdDocument } from './prdDocument.ts';
import type { StoryDiagnosis, StoryFix } from './storyDiagnosis.ts';
import { syntaxFixes } from './syntaxFixes.ts';

/** Maximum number of reported problems. */
const MAX_PROBLEMS = 1_000;
/** Maximum number of rounds of clear fixes, because a fix may reveal the next problem. */
const MAX_ROUNDS = 50;
/** Maximum length of a folder that is read while somebody types in one of its files: the whole of it, each time. */
const MAX_FOLDER_LENGTH = 1024 * 1024;
/** Formats with a checkbox for each story. */
const PLANS: ReadonlySet<StoryFormatName> = new Set(['plan', 'specsIndex']);

/** A parsed story file and its problems, in the order of the text. */
export interface DiagnosedStories {
  readonly file: StoryFile;
  /** Without byte order mark; the ranges refer to it. */
  readonly text: string;
  readonly diagnoses: readonly StoryDiagnosis[];
  /** How many further problems there are, which are only counted. */
  readonly more: number;
  /** Whether one of the problems has a clear fix. Only what could be one is tried: each trial reads the whole text. */
  readonly hasClearFix: () => boolean;
}

/**
 * Finds the problems of a story file: those reported by the reader, and in a `prd.json` also what is probably not
 * intended. Pure; never throws.
 * @param path determines the format, as in `parseStoryFile`
 */
export function diagnoseStories(path: string, content: string | Uint8Array): DiagnosedStories {
  return diagnose(path, content);
}

/**
 * Finds the problems of one file of a folder of tasks as somebody is editing it.
 * @param folder its path
 * @param content of the folder as one text, see `folderText.ts`
 * @param text of the file, without byte order mark
 * @returns `undefined` if the folder has no such file, or is too large to be read at each pause
 */
export function diagnoseTaskFile(
  folder: string,
  content: string,
  name: string,
  text: string,
): DiagnosedStories | undefined {
  if (content.length + text.length > MAX_FOLDER_LENGTH) {
    return undefined;
  }
  const whole = withFile(content, name, text);
  const part = whole === undefined ? undefined : folderParts(whole).find(one => one.name === name);
  if (whole === undefined || part === undefined) {
    return undefined;
  }
  const at = (offset: number) => contentOffset(whole, part, offset);
  const inFile = ({ edits, ...fix }: StoryFix): StoryFix => ({
    ...fix,
    edits: edits.map(({ content, length, offset }) => {
      const start = at(offset);
      return { offset: start, length: at(offset + length) - start, content };
    }),
  });
  const { diagnoses, file, more } = diagnose(folder, whole, name);
  return {
    file,
    text,
    more,
    diagnoses: diagnoses.map(found => ({
      ...found,
      start: at(found.start),
      end: at(found.end),
      fixes: once(() => found.fixes().map(inFile)),
    })),
    // The tool writes these files, too, so a person chooses each fix.
    hasClearFix: () => false,
  };
}

/** With what finds the problems of single parts, if the format knows their places. */
interface DiagnosedWithParts extends DiagnosedStories {
  readonly parted: PartDiagnoses | undefined;
}

/** @param only the file that is asked for, of a folder of tasks */
function diagnose(path: string, content: string | Uint8Array, only?: string): DiagnosedWithParts {
  const { file, parts, text } = parseStoryText(path, content);
  const lines = new TextLines(text);
  const list = file.kind === 'stories' ? file : undefined;
  const document = list?.format === 'prd' ? PrdDocument.read(text) : undefined;
  // An id that somebody waits for would be taken for that story.
  const taken = new Set(list?.stories.map(({ id }) => id));
  // Thousands of stories may share one list of thousands.
  for (const ids of new Set(list?.stories.map(({ dependsOn }) => dependsOn))) {
    for (const id of ids) {
      taken.add(id);
    }
  }
  const diagnoses: StoryDiagnosis[] = [];
  let more = 0;
  const parted = list && parts && new PartDiagnoses({ list, parts, taken, text });
  const files = new Map(folderParts(text).map(part => [part.name, part]));
  const problems = file.problems.filter(one => only === undefined || one.file === only);
  for (const found of all(file, problems, { document, files, lines, parted, taken, text })) {
    if (diagnoses.length < MAX_PROBLEMS) {
      diagnoses.push(found);
    } else {
      more += 1;
    }
  }
  diagnoses.sort((a, b) => a.start - b.start || a.end - b.end);
  const hasClearFix = once(() =>
    diagnoses.some(
      found =>
        parted?.clearTrials(found)?.length !== 0 && found.fixes().some(({ isClear }) => isClear),
    ),
  );
  return { file, text, diagnoses, more, hasClearFix, parted };
}

/** Applies all clear fixes. @returns the new text, with its previous byte order mark */
export function fixAll(path: string, content: string): string {
  const bom = content.startsWith('\uFEFF') ? '\uFEFF' : '';
  let text = content.slice(bom.length);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const edits = clearEdits(diagnose(path, text));
    if (edits.length === 0) {
      break;
    }
    text = applyEdits(text, edits);
  }
  return bom + text;
}

/** The edits of clear fixes that do not overlap. @param failed fixes that may not stand in the way of others */
function clearEdits(found: DiagnosedWithParts, failed: ReadonlySet<Trial> = new Set()): Edit[] {
  const { diagnoses, file, parted, text } = found;
  const taken: Edit[] = [];
  const trials: Trial[] = [];
  let end = -1;
  for (const diagnosis of diagnoses) {
    const own = parted?.clearTrials(diagnosis)?.filter(trial => !failed.has(trial));
    const edits =
      own?.flatMap(trial => trial.edits) ??
      diagnosis.fixes().find(({ isClear }) => isClear)?.edits ??
      [];
    const sorted = [...edits].sort((a, b) => a.offset - b.offset);
    const [first] = sorted;
    const last = sorted.at(-1);
    if (first !== undefined && last !== undefined && first.offset > end) {
      end = last.offset + last.length;
      trials.push(...(own ?? []));
      taken.push(...(own === undefined ? sorted : []));
    }
  }
  // Trying them one by one would read a long list for each.
  const exact = file.kind === 'stories' ? exactTrials({ list: file, text }, trials) : [];
  return trials.length > 0 && exact.length === 0 && taken.length === 0
    ? clearEdits(found, new Set([...failed, ...trials]))
    : [...taken, ...exact.flatMap(trial => trial.edits)];
}

interface Context {
  readonly text: string;
  readonly lines: TextLines;
  /** Of a folder of tasks. */
  readonly files: ReadonlyMap<string, FolderPart>;
  /** Of a `prd.json`. */
  readonly document: PrdDocument | undefined;
  readonly parted: PartDiagnoses | undefined;
  readonly taken: Set<string>;
}

function* all(
  file: StoryFile,
  problems: readonly StoryProblem[],
  context: Context,
): Generator<StoryDiagnosis> {
  const { document, parted, taken } = context;
  for (const problem of problems) {
    if (document !== undefined && isOfEntry(problem)) {
      continue;
    }
    const plain = plainDiagnosis(file, problem, context);
    yield* parted?.of(problem, plain) ?? [plain];
  }
  if (document !== undefined) {
    for (const found of checkEntries(document, taken)) {
      // Nobody should write into a copy of another tool's list.
      if (found.severity !== 'info' || !isCopy(file.path)) {
        yield found;
      }
    }
  }
}

/**
 * Whether the check of the entries has the problem, with a fix: no object, a misspelled key, no priority, or a word in the
 * place of true or false.
 */
function isOfEntry({ code, subject }: StoryProblem): boolean {
  return (
    (code === 'notAStory' && subject !== undefined) ||
    code === 'misspelledDependency' ||
    code === 'unreadDependency' ||
    code === 'misspelledKey' ||
    code === 'priorityNotNumber' ||
    (code === 'misspelledStatus' && !isStatusKey(subject?.ids[1])) ||
    (code === 'unknownStatus' && !isStatusKey(subject?.ids[0]))
  );
}

/** Whether a `prd.json` is a copy of issues on GitHub, which has the form that they have there. */
function isCopy(path: string): boolean {
  return /(?:^|[\\/])\.omc[\\/]github\.json$/.test(path);
}

/** For a problem without a place of its own: covers the rest of the line. */
function plainDiagnosis(
  file: StoryFile,
  problem: StoryProblem,
  { files, lines, text }: Context,
): StoryDiagnosis {
  const { code, column, message, severity = 'warning' } = problem;
  // The line of a file is counted in that file.
  const first = files.get(problem.file ?? '')?.start ?? 0;
  const line = problem.line + lines.at(first).line - 1;
  const offset = Math.min(lines.offsetOf({ line, column }), text.length);
  // Thousands of problems may be on one line, which must not be searched for its end each time.
  const next = lines.offsetOf({ line: line + 1, column: 1 });
  const rest = text.slice(offset, next > offset ? next : undefined).trimEnd();
  // At the end of a line, the previous character is underlined.
  const start = rest === '' && offset > first ? offset - 1 : offset;
  return {
    code,
    message,
    file: problem.file,
    severity: file.kind === 'invalid' ? 'error' : severity,
    start,
    end: Math.min(text.length, Math.max(offset + rest.length, start + 1)),
    fixes: once(() => lineFixes(file, code, text, offset)),
  };
}

/** The fixes of what is not written as it should be at one place. */
function lineFixes(
  file: StoryFile,
  code: StoryProblem['code'],
  text: string,
  offset: number,
): readonly StoryFix[] {
  if (code === 'notAStory' && file.kind === 'stories' && PLANS.has(file.format)) {
    return itemFix(file, text, offset);
  }
  return code === 'invalidJson' && file.format === 'prd' ? syntaxFixes(text, offset) : [];
}
