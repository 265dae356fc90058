import { applyEdits, type Edit } from 'jsonc-parser';
import { literal, memberSpan, removePart } from '../edit/jsonEdit.ts';
import type { Member, Span } from '../formats/jsonOutline.ts';
import { isStatusKey, ownId } from '../formats/prdKeys.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryFile, StoryProblem } from '../story.ts';
import { parseStoryText } from '../storyFile.ts';
import { unknownDependencyMessage } from '../storyProblems.ts';
import { closestId, takeFreeId } from './ids.ts';
import { checkEntries } from './prdChecks.ts';
import { type DependencyPlace, PrdDocument } from './prdDocument.ts';
import type { StoryDiagnosis, StoryFix } from './storyDiagnosis.ts';
import { syntaxFixes } from './syntaxFixes.ts';

/** Maximum number of reported problems. */
const MAX_PROBLEMS = 1_000;
/** Maximum number of rounds of clear fixes, because a fix may reveal the next problem. */
const MAX_ROUNDS = 50;

/** A parsed story file and its problems, in the order of the text. */
export interface DiagnosedStories {
  readonly file: StoryFile;
  /** Without byte order mark; the ranges refer to it. */
  readonly text: string;
  readonly diagnoses: readonly StoryDiagnosis[];
}

/**
 * Finds the problems of a story file: those reported by the reader, and in a `prd.json` also what is probably not
 * intended. Pure; never throws.
 * @param path determines the format, as in `parseStoryFile`
 */
export function diagnoseStories(path: string, content: string): DiagnosedStories {
  const { file, text } = parseStoryText(path, content);
  const lines = new TextLines(text);
  const document =
    file.kind === 'stories' && file.format === 'prd' ? PrdDocument.read(text) : undefined;
  const taken = new Set(document?.ids());
  const diagnoses: StoryDiagnosis[] = [];
  for (const found of all(file, document, { text, lines, taken })) {
    diagnoses.push(found);
    if (diagnoses.length >= MAX_PROBLEMS) {
      break;
    }
  }
  return { file, text, diagnoses: diagnoses.sort((a, b) => a.start - b.start || a.end - b.end) };
}

/** Applies all clear fixes. @returns the new text, with its previous byte order mark */
export function fixAll(path: string, content: string): string {
  const bom = content.startsWith('\uFEFF') ? '\uFEFF' : '';
  let text = content.slice(bom.length);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const edits = clearEdits(diagnoseStories(path, text).diagnoses);
    if (edits.length === 0) {
      break;
    }
    text = applyEdits(text, edits);
  }
  return bom + text;
}

/** The edits of clear fixes that do not overlap. */
function clearEdits(diagnoses: readonly StoryDiagnosis[]): Edit[] {
  const taken: Edit[] = [];
  let end = -1;
  for (const { fixes } of diagnoses) {
    const edits = [...(fixes().find(({ isClear }) => isClear)?.edits ?? [])].sort(
      (a, b) => a.offset - b.offset,
    );
    const [first] = edits;
    const last = edits.at(-1);
    if (first !== undefined && last !== undefined && first.offset > end) {
      taken.push(...edits);
      end = last.offset + last.length;
    }
  }
  return taken;
}

interface Context {
  readonly text: string;
  readonly lines: TextLines;
  readonly taken: Set<string>;
}

function* all(
  file: StoryFile,
  document: PrdDocument | undefined,
  context: Context,
): Generator<StoryDiagnosis> {
  for (const problem of file.problems) {
    if (document === undefined) {
      yield plainDiagnosis(file, problem, context);
    } else {
      yield* relationDiagnoses(document, problem, context);
    }
  }
  if (document !== undefined) {
    for (const found of checkEntries(document, context.taken)) {
      // Nobody should write into a copy of another tool's list.
      if (found.severity !== 'info' || !isCopy(file.path)) {
        yield found;
      }
    }
  }
}

/** Whether a `prd.json` is a copy of issues on GitHub, which has the form that they have there. */
function isCopy(path: string): boolean {
  return /(?:^|[\\/])\.omc[\\/]github\.json$/.test(path);
}

/** For another format, or a file that cannot be used: covers the rest of the line. */
function plainDiagnosis(
  file: StoryFile,
  problem: StoryProblem,
  { lines, text }: Context,
): StoryDiagnosis {
  const { code, message, severity = 'warning' } = problem;
  const offset = Math.min(lines.offsetOf(problem), text.length);
  const rest = /^[^\r\n]*/.exec(text.slice(offset))?.[0].trimEnd() ?? '';
  // At the end of a line, the previous character is underlined.
  const start = rest === '' && offset > 0 ? offset - 1 : offset;
  return {
    code,
    message,
    severity: file.kind === 'invalid' ? 'error' : severity,
    start,
    end: Math.min(text.length, Math.max(offset + rest.length, start + 1)),
    fixes: () => (code === 'invalidJson' && file.format === 'prd' ? syntaxFixes(text, offset) : []),
  };
}

/** Problems between stories, each at the wrong id itself. */
function* relationDiagnoses(
  document: PrdDocument,
  { code, message, severity: given, subject }: StoryProblem,
  { taken }: Context,
): Generator<StoryDiagnosis> {
  const { position = 0, ids = [] } = subject ?? {};
  const facts: Pick<StoryDiagnosis, 'code' | 'message' | 'severity'> = {
    ...{ code, message },
    severity: given ?? 'warning',
  };
  switch (code) {
    case 'duplicateId': {
      const member = document.member(position, 'id');
      const place = member?.value ?? document.span(position);
      const id = takeFreeId(taken, ids[0] ?? '');
      yield {
        ...facts,
        ...place,
        fixes: () => (member ? [giveId(document, member.value, id)] : []),
      };
      break;
    }
    case 'unknownDependency': {
      const own = ownId(document.entry(position) ?? {}) ?? `#${position + 1}`;
      for (const id of ids) {
        const places = document.dependencies(position, id);
        if (places.length === 0) {
          // It is a dependency of the epic.
          yield {
            ...facts,
            message: unknownDependencyMessage(own, [id]),
            ...document.span(position),
            fixes: () => [],
          };
        }
        for (const place of places) {
          yield {
            ...facts,
            message: unknownDependencyMessage(own, [id]),
            ...place.span,
            fixes: () => unknownFixes(document, position, place),
          };
        }
      }
      break;
    }
    case 'unknownStatus': {
      const [key = ''] = ids;
      const member = document.member(position, key);
      // A word in the place of true or false has a problem of its own, with a fix.
      if (isStatusKey(key)) {
        yield {
          ...facts,
          ...(member === undefined ? document.span(position) : memberSpan(member)),
          fixes: () => [],
        };
      }
      break;
    }
    case 'notAStory':
      // The check of the entries has it, with a fix.
      break;
    case 'storySetting': {
      const member = document.member(position, ids[0] ?? '');
      yield {
        ...facts,
        ...(member === undefined ? document.span(position) : memberSpan(member)),
        fixes: () => (member === undefined ? [] : [withoutMember(document, position, member)]),
      };
      break;
    }
    default: {
      // The first story of a cycle waits for a later one, so that dependency is the unusual one.
      const next = ids[1] ?? ids[0] ?? '';
      const [place] = document.dependencies(position, next);
      yield {
        ...facts,
        ...(place?.span ?? document.span(position)),
        fixes: () => {
          const edits = document
            .dependencies(position, next)
            .map(found => removal(document, position, found));
          // If it is named twice, only one of them can be removed at a time.
          return edits.length === 1
            ? [{ kind: 'removeDependency', values: [next], edits, isClear: true }]
            : [];
        },
      };
    }
  }
}

function giveId(document: PrdDocument, { start, end }: Span, id: string): StoryFix {
  const isNumber = document.text[start] !== '"' && /^[1-9]\d{0,14}$/.test(id);
  const content = isNumber ? id : literal(id);
  return {
    kind: 'giveId',
    values: [id],
    edits: [{ offset: start, length: end - start, content }],
    isClear: true,
  };
}

function unknownFixes(document: PrdDocument, position: number, place: DependencyPlace): StoryFix[] {
  const own = ownId(document.entry(position) ?? {});
  const meant = closestId(
    place.id,
    new Set(document.ids()),
    id => id !== own && document.dependencies(position, id).length === 0,
  );
  const { start, end } = place.span;
  const replace: StoryFix[] =
    meant === undefined
      ? []
      : [
          {
            kind: 'replaceDependency',
            values: [place.id, meant],
            edits: [{ offset: start, length: end - start, content: literal(meant) }],
            isClear: true,
          },
        ];
  return [
    ...replace,
    {
      kind: 'removeDependency',
      values: [place.id],
      edits: [removal(document, position, place)],
      isClear: meant === undefined,
    },
  ];
}

function removal(document: PrdDocument, position: number, { list, member }: DependencyPlace): Edit {
  if (list !== undefined) {
    return removePart(list.elements, list.index);
  }
  return memberRemoval(document, position, member);
}

function withoutMember(document: PrdDocument, position: number, member: Member): StoryFix {
  const edits = [memberRemoval(document, position, member)];
  return { kind: 'removeField', values: [member.key], edits, isClear: false };
}

function memberRemoval(document: PrdDocument, position: number, { name }: Member): Edit {
  const members = document.members(position);
  const index = members.findIndex(other => other.name.start === name.start);
  return removePart(members.map(memberSpan), index);
}
