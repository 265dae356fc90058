import { applyEdits, type Edit } from 'jsonc-parser';
import { isNumberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { changedPart } from '../edit/changedPart.ts';
import { literal } from '../edit/jsonEdit.ts';
import type { Span } from '../formats/jsonOutline.ts';
import { isStatusKey } from '../formats/prdKeys.ts';
import { openWord } from '../formats/statusWord.ts';
import type { DependencyPart, StoryPart, StoryParts } from '../formats/storyFormat.ts';
import { StoryNames } from '../formats/storyNames.ts';
import { idsByName } from '../joinedIds.ts';
import type { Story, StoryFormatName, StoryList, StoryProblem } from '../story.ts';
import { parseStoryText } from '../storyFile.ts';
import { type KnownNames, unknownDependencyMessages } from '../storyProblems.ts';
import { areExact, type Candidate, type Trial } from './fixTrials.ts';
import { closestId, takeFreeId } from './ids.ts';
import type { StoryDiagnosis } from './storyDiagnosis.ts';

/** Files that their tools write, too: there a person chooses each fix. */
const OF_TOOLS: ReadonlySet<StoryFormatName> = new Set([
  'backlog',
  'beads',
  'ralphOrchestrator',
  'taskMaster',
]);

/** Formats whose stories may wait for others by their titles. */
const WITH_TITLES: ReadonlySet<StoryFormatName> = new Set(['prd', 'orchestration']);

/** A story file whose stories have parts with known places. */
export interface Parted {
  readonly list: StoryList;
  readonly text: string;
  readonly parts: StoryParts;
  /** Ids that are in use; grows by those that the fixes assign. */
  readonly taken: Set<string>;
}

/** How often a text is read again, at most, to take out an id that a story names several times. */
const MAX_ROUNDS = 5;

/** The problems that are about one part of a story, each at that part, with fixes that were tried. */
export class PartDiagnoses {
  private readonly file: Parted;
  private readonly stories: ReadonlyMap<number, Story>;
  private readonly names: () => StoryNames;
  private readonly ids: () => ReadonlySet<string>;
  private readonly idOf: KnownNames['idOf'];
  /** The ids of the stories that are called by their titles. */
  private readonly titles: () => ReadonlyMap<string, string>;
  private readonly candidates = new Map<StoryDiagnosis, () => readonly Trial[]>();

  constructor(file: Parted) {
    const { stories } = file.list;
    this.file = file;
    this.stories = new Map(stories.map(story => [story.position, story]));
    this.names = once(() => new StoryNames(stories));
    this.idOf = idsByName(stories);
    this.ids = once(() => new Set(stories.flatMap(({ id }) => (isNumberId(id) ? [] : id))));
    const titled = WITH_TITLES.has(file.list.format) ? stories : [];
    this.titles = once(
      () =>
        new Map(
          titled.flatMap(({ id, title }) => {
            const [only, ...others] = this.names().meantBy(title);
            return only === id && others.length === 0 ? [[title, id] as const] : [];
          }),
        ),
    );
  }

  /** @param plain the diagnosis of the problem by its line, if its part has no place */
  *of(problem: StoryProblem, plain: StoryDiagnosis): Generator<StoryDiagnosis> {
    const { position = -1, ids = [] } = problem.subject ?? {};
    const story = this.stories.get(position);
    const [key] = ids;
    switch (story === undefined ? undefined : problem.code) {
      case 'duplicateId': {
        const part = this.file.parts.field(position, 'id');
        const id = takeFreeId(this.file.taken, key ?? '');
        yield this.at(part?.span, plain, problem, () => [giveId(part, id)]);
        break;
      }
      case 'unknownDependency':
        yield* this.unknown(problem, plain, story as Story);
        break;
      case 'circularDependency': {
        // The first story of a cycle waits for a later one, so that dependency is the unusual one.
        const next = ids[1] ?? key ?? '';
        const [part] = this.dependencies(position, next);
        yield this.at(part?.span, plain, problem, () => [this.notToWait(position, next, true)]);
        break;
      }
      case 'unknownStatus': {
        const part = this.file.parts.field(position, key);
        const isWord = key === undefined || isStatusKey(key);
        yield this.at(part?.whole, plain, problem, () => (isWord ? [this.setOpen(part, key)] : []));
        break;
      }
      case 'storySetting': {
        const part = this.file.parts.field(position, key);
        yield this.at(part?.whole, plain, problem, () => [
          { kind: 'removeField', values: [key ?? ''], isClear: false, edits: [part?.removal] },
        ]);
        break;
      }
      case 'notHashes': {
        const part = this.file.parts.field(position, key);
        const name = `${key}_note`;
        yield this.at(part?.whole, plain, problem, () => [
          {
            ...{ kind: 'setAside', values: [key ?? '', name], isClear: false },
            edits: [part?.setAside?.(name)],
          },
        ]);
        break;
      }
      default:
        yield plain;
    }
  }

  /** The clear fix of a diagnosis of this class, not tried yet; `undefined` for another diagnosis. */
  clearTrials(found: StoryDiagnosis): readonly Trial[] | undefined {
    return this.candidates.get(found)?.();
  }

  private at(
    span: Span | undefined,
    plain: StoryDiagnosis,
    problem: StoryProblem,
    candidates: () => readonly Candidate[],
  ): StoryDiagnosis {
    const [found = plain] =
      span === undefined ? [] : this.atEach([span], plain, problem, candidates);
    return found;
  }

  /** One diagnosis at each place; they share their fixes, because each trial reads the whole text. */
  private atEach(
    spans: readonly Span[],
    plain: StoryDiagnosis,
    problem: StoryProblem,
    candidates: () => readonly Candidate[],
  ): readonly StoryDiagnosis[] {
    const mustChoose = OF_TOOLS.has(this.file.list.format);
    const trials = once(() =>
      candidates().flatMap(({ edits, isClear, ...candidate }): readonly Trial[] =>
        edits.length > 0 && edits.every(edit => edit !== undefined)
          ? [{ ...candidate, edits, problem, isClear: isClear && !mustChoose }]
          : [],
      ),
    );
    const fixes = once(() =>
      trials()
        .filter(trial => areExact(this.file, [trial]))
        .map(({ edits, isClear, kind, values }) => ({ kind, values, isClear, edits })),
    );
    return spans.map(({ end, start }) => {
      const found: StoryDiagnosis = { ...plain, start, end, fixes };
      this.candidates.set(found, () =>
        trials()
          .filter(({ isClear }) => isClear)
          .slice(0, 1),
      );
      return found;
    });
  }

  /** Each unknown id where it stands; those that a story has from its group in one sentence. */
  private *unknown(
    problem: StoryProblem,
    plain: StoryDiagnosis,
    story: Story,
  ): Generator<StoryDiagnosis> {
    const { id: own, position } = story;
    const { ids = [] } = problem.subject ?? {};
    const found = ids.map(id => ({ id, parts: this.dependencies(position, id) }));
    const inherited = found.flatMap(({ id, parts }) => (parts.length === 0 ? [id] : []));
    const known: KnownNames = {
      idOf: this.idOf,
      isShared: name => this.names().isSharedTitle(name),
    };
    for (const { message } of unknownDependencyMessages(story, inherited, known)) {
      yield { ...plain, message };
    }
    for (const { id, parts } of found) {
      const spans = parts.map(({ span }) => span);
      for (const { message } of unknownDependencyMessages(story, [id], known)) {
        yield* this.atEach(spans, { ...plain, message }, problem, () =>
          this.unknownFixes(id, parts, own, position),
        );
      }
    }
  }

  /** @param parts all that name the id */
  private unknownFixes(
    id: string,
    parts: readonly DependencyPart[],
    own: string,
    position: number,
  ): Candidate[] {
    const meant = this.meant(id, own, position);
    const replace: Candidate[] =
      meant === undefined
        ? []
        : [
            {
              ...{ kind: 'replaceDependency', values: [id, meant.name], isClear: true },
              edits: parts.map(part => part.write?.(meant.name)),
              becomes: story => ({
                ...story,
                dependsOn: story.dependsOn.map(need => (need === id ? meant.id : need)),
              }),
              touched: [id, meant.id],
            },
          ];
    // Several ids in one text: a person has to write them apart.
    const isList = id.split(/[\s,;]+/).some(one => this.ids().has(one));
    return [...replace, this.notToWait(position, id, meant === undefined && !isList)];
  }

  /** The story that an unknown name probably means, and the id or title that it is to be named by. */
  private meant(
    wrong: string,
    own: string,
    position: number,
  ): { readonly id: string; readonly name: string } | undefined {
    const named = new Set(
      this.file.parts.dependencies(position).flatMap(({ id }) => [id, ...this.names().meantBy(id)]),
    );
    const canBe = (id: string | undefined) => id !== own && !named.has(id ?? '');
    const id = closestId(wrong, this.ids(), canBe);
    if (id !== undefined) {
      return { id, name: id };
    }
    const titles = this.titles();
    const name = closestId(wrong, titles, title => canBe(titles.get(title)));
    return name === undefined ? undefined : { id: titles.get(name) ?? name, name };
  }

  private notToWait(position: number, id: string, isClear: boolean): Candidate {
    return {
      ...{ kind: 'removeDependency', values: [id], isClear },
      edits: [this.removalOf(position, id)],
      becomes: story => ({ ...story, dependsOn: story.dependsOn.filter(need => need !== id) }),
      touched: [id],
    };
  }

  /**
   * The edit that removes a dependency, however often it is named. Neighbours share their commas, and the last one is
   * not removed as others are, so it takes some rounds.
   */
  private removalOf(position: number, id: string): Edit | undefined {
    const { list, text } = this.file;
    let now = text;
    let places = this.dependencies(position, id);
    for (let round = 0; places.length > 1; round += 1) {
      const edits = apart(places.slice(1).flatMap(({ removal }) => removal ?? []));
      if (edits.length === 0 || round === MAX_ROUNDS) {
        return undefined;
      }
      now = applyEdits(now, edits);
      // None if a comma that is left over has made the text unreadable.
      const { parts } = parseStoryText(list.path, now);
      places = parts === undefined ? [] : this.dependencies(position, id, parts);
    }
    const last = places[0]?.removal;
    return now === text || last === undefined ? last : changedPart(text, applyEdits(now, [last]));
  }

  /** The dependencies by which a story waits for another one, by its id or by another name of it alone. */
  private dependencies(position: number, id: string, parts = this.file.parts): DependencyPart[] {
    return parts
      .dependencies(position)
      .filter(part => part.id === id || this.names().meantBy(part.id).includes(id));
  }

  private setOpen(part: StoryPart | undefined, key: string | undefined): Candidate {
    const { list, parts, text } = this.file;
    // A word may be known elsewhere, and no status of this list.
    const unknown = new Set(
      list.problems.flatMap(({ code, subject }) =>
        code === 'unknownStatus' ? (subject?.position ?? []) : [],
      ),
    );
    const others = list.stories.flatMap(({ done, position, status }) =>
      done || status === undefined || unknown.has(position) ? [] : [{ status }],
    );
    const word = openWord(undefined, others, parts.openWord);
    // A checkbox has no key.
    const values =
      key === undefined
        ? [text.slice(part?.span.start, part?.span.end), word]
        : [key, literal(word)];
    return {
      ...{ kind: 'setValue', values, isClear: false, edits: [part?.write?.(word)] },
      becomes: (story, { status }) => ({ ...story, status }),
    };
  }
}

/** Of edits in the order of the text, those that do not overlap with one behind them. */
function apart(edits: readonly Edit[]): Edit[] {
  let next = Number.POSITIVE_INFINITY;
  return edits.toReversed().filter(({ length, offset }) => {
    const isApart = offset + length <= next;
    next = isApart ? offset : next;
    return isApart;
  });
}

function giveId(part: StoryPart | undefined, id: string): Candidate {
  return {
    ...{ kind: 'giveId', values: [id], isClear: true, edits: [part?.write?.(id)] },
    becomes: story => ({ ...story, id, title: story.title === story.id ? id : story.title }),
    touched: [id],
  };
}
