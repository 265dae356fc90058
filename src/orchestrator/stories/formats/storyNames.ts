import { numberId } from '../../../base/numberId.ts';
import type { Story } from '../story.ts';

/** Stories that stand together under one name: an epic, a phase. */
export interface NamedGroup {
  readonly id?: string;
  readonly name?: string;
  /** The ids of its stories. */
  readonly stories: readonly string[];
}

type Named = Pick<Story, 'id' | 'title'>;

interface Group extends NamedGroup {
  readonly position: number;
  readonly plainName: string;
}

/**
 * What dependencies refer to. Files name the work that must come first in different ways: by id, by title, by the
 * number in the list if there are no ids, or by the phase or epic that it belongs to.
 */
export class StoryNames {
  private readonly ids: ReadonlySet<string>;
  private readonly stories: readonly Named[];
  private readonly groups: readonly Group[];
  /** What was found for a name: files repeat them, and there may be thousands of groups. */
  private readonly called = new Map<string, readonly Group[]>();
  private titles: ReadonlyMap<string, string | undefined> | undefined;

  constructor(stories: readonly Named[], groups: readonly NamedGroup[] = []) {
    this.ids = new Set(stories.map(({ id }) => id));
    this.stories = stories;
    this.groups = groups.map((group, position) => ({
      ...group,
      position,
      plainName: plain(group.name ?? ''),
    }));
  }

  /**
   * The ids of the stories that a story means; the name itself if there are none.
   * @param from the position of its own group: of several groups with the name, those before it are meant
   */
  meantBy(name: string, from?: number): readonly string[] {
    if (this.ids.has(name)) {
      return [name];
    }
    const byTitle = this.byTitle(name);
    return (
      this.inGroups(name, false, from) ??
      (byTitle === undefined ? undefined : [byTitle]) ??
      this.byNumber(name) ??
      this.inGroups(name, true, from) ?? [name]
    );
  }

  /** The ids of the stories that a group means, which rather refers to another group. @param from its own position */
  meantByGroup(name: string, from?: number): readonly string[] {
    return this.inGroups(name, true, from) ?? this.meantBy(name, from);
  }

  private inGroups(name: string, isNumber: boolean, from?: number): readonly string[] | undefined {
    const found = this.groupsCalled(name, isNumber);
    if (found.length < 2) {
      return found[0]?.stories;
    }
    // All of them must be done, so that nothing is started too early; but none waits for itself, or for those behind it.
    const before = found.filter(({ position }) => from !== undefined && position < from);
    const others = found.filter(({ position }) => position !== from);
    return (before.length > 0 ? before : others).flatMap(({ stories }) => stories);
  }

  /** A story without an id of its own is called by its number. */
  private byNumber(name: string): readonly string[] | undefined {
    const id = /^[1-9]\d{0,6}$/.test(name) ? numberId(Number(name) - 1) : name;
    return this.ids.has(id) ? [id] : undefined;
  }

  /** Whether several stories have this title, so that it means none of them. */
  isSharedTitle(name: string): boolean {
    const titles = this.allTitles();
    return titles.has(plain(name)) && titles.get(plain(name)) === undefined;
  }

  /** Only if no other story has this title. */
  private byTitle(name: string): string | undefined {
    return this.allTitles().get(plain(name));
  }

  /** The id by title; `undefined` for a title of several stories. */
  private allTitles(): ReadonlyMap<string, string | undefined> {
    if (this.titles === undefined) {
      const titles = new Map<string, string | undefined>();
      for (const { id, title } of this.stories) {
        titles.set(plain(title), titles.has(plain(title)) ? undefined : id);
      }
      this.titles = titles;
    }
    return this.titles;
  }

  /** By id or name; `Phase 1` is also the start of `Phase 1: Foundation`, and 1 the number of the first one. */
  private groupsCalled(name: string, isNumber: boolean): readonly Group[] {
    const key = `${isNumber} ${name}`;
    const found = this.called.get(key) ?? this.findGroups(name, isNumber);
    this.called.set(key, found);
    return found;
  }

  private findGroups(name: string, isNumber: boolean): readonly Group[] {
    const plainName = plain(name);
    const same = this.groups.filter(group => group.id === name || group.name === name);
    if (same.length > 0) {
      return same;
    }
    const alike = this.groups.filter(
      group =>
        group.plainName === plainName ||
        (group.name?.startsWith(name) === true &&
          /^[\s:.\u2013\u2014-]/.test(group.name.slice(name.length))),
    );
    if (alike.length > 0) {
      return alike.length === 1 ? alike : [];
    }
    if (!isNumber || !/^[1-9]\d{0,3}$/.test(name)) {
      return [];
    }
    const phases = this.groupsCalled(`Phase ${name}`, false);
    return phases.length > 0 ? phases : this.groups.slice(Number(name) - 1, Number(name));
  }
}

function plain(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s+/g, ' ');
}
