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

/**
 * What dependencies refer to. Files name the work that must come first in different ways: by id, by title, by the
 * number in the list if there are no ids, or by the phase or epic that it belongs to.
 */
export class StoryNames {
  private readonly ids: ReadonlySet<string>;
  private readonly stories: readonly Named[];
  private readonly groups: readonly (NamedGroup & { readonly plainName: string })[];
  /** What was found for a name: files repeat them, and there may be thousands of groups. */
  private readonly called = new Map<string, NamedGroup | undefined>();
  private titles: ReadonlyMap<string, string | undefined> | undefined;

  constructor(stories: readonly Named[], groups: readonly NamedGroup[] = []) {
    this.ids = new Set(stories.map(({ id }) => id));
    this.stories = stories;
    this.groups = groups.map(group => ({ ...group, plainName: plain(group.name ?? '') }));
  }

  /** The ids of the stories that a story means; the name itself if there are none. */
  meantBy(name: string): readonly string[] {
    if (this.ids.has(name)) {
      return [name];
    }
    const byTitle = this.byTitle(name);
    return (
      this.groupCalled(name, false)?.stories ??
      (byTitle === undefined ? undefined : [byTitle]) ??
      this.byNumber(name) ??
      this.groupCalled(name, true)?.stories ?? [name]
    );
  }

  /** The ids of the stories that a group means, which rather refers to another group. */
  meantByGroup(name: string): readonly string[] {
    return this.groupCalled(name, true)?.stories ?? this.meantBy(name);
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

  /** By its id or name; `Phase 1` is also the start of `Phase 1: Foundation`, and 1 the number of the first one. */
  private groupCalled(name: string, isNumber: boolean): NamedGroup | undefined {
    const key = `${isNumber} ${name}`;
    if (!this.called.has(key)) {
      this.called.set(key, this.findGroup(name, isNumber));
    }
    return this.called.get(key);
  }

  private findGroup(name: string, isNumber: boolean): NamedGroup | undefined {
    const plainName = plain(name);
    const same = this.groups.filter(group => group.id === name || group.name === name);
    if (same.length > 0) {
      // With one name for several, all of them must be done: nothing is started too early.
      return { stories: same.flatMap(group => group.stories) };
    }
    const [first, ...others] = this.groups.filter(
      group =>
        group.plainName === plainName ||
        (group.name?.startsWith(name) === true &&
          /^[\s:.\u2013\u2014-]/.test(group.name.slice(name.length))),
    );
    if (first !== undefined) {
      return others.length === 0 ? first : undefined;
    }
    return isNumber && /^[1-9]\d{0,3}$/.test(name)
      ? (this.groupCalled(`Phase ${name}`, false) ?? this.groups[Number(name) - 1])
      : undefined;
  }
}

function plain(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s+/g, ' ');
}
