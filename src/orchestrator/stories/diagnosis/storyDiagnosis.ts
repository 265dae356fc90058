import type { Edit } from 'jsonc-parser';
import type { Message } from '../../../base/say.ts';

/** The severity of a problem: the file cannot be used; the loop does something else than intended; a hint. */
export type Severity = 'error' | 'warning' | 'info';

/** A way to fix a problem. Its edits remove the problem and change nothing else. */
export interface StoryFix {
  readonly kind: /** `values`: the id. */
    | 'giveId'
    /** `values`: the old id, the new one. */
    | 'replaceDependency'
    /** `values`: the id of the removed dependency. */
    | 'removeDependency'
    /** `values`: the key. */
    | 'addField'
    /** `values`: the old key, the new one. */
    | 'renameKey'
    /** `values`: the key, the new value as JSON; of a checkbox, the old and the new one. */
    | 'setValue'
    /** `values`: the key. */
    | 'removeField'
    /** `values`: the key, which gets an empty list, and the one that gets its value. */
    | 'setAside'
    | 'removeEntry'
    | 'makeStory'
    /** `values`: the beginning of the item. */
    | 'makeItem'
    | 'addFirstStory'
    | 'insertComma'
    | 'removeComma'
    | 'removeComment';
  readonly values: readonly string[];
  readonly edits: readonly Edit[];
  /** There is no other sensible fix, so it may be applied without asking. */
  readonly isClear: boolean;
}

/** A problem of a story file, with its range and the ways to fix it. */
export interface StoryDiagnosis {
  /** Stable, for use in editor settings and scripts. */
  readonly code: string;
  readonly severity: Severity;
  /** A sentence that names the fix. */
  readonly message: Message;
  /** If the source is a folder: the file, from there, with forward slashes. */
  readonly file?: string;
  /** Offsets in the text without byte order mark, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Created lazily, because there may be a thousand problems and a person fixes one. */
  readonly fixes: () => readonly StoryFix[];
}
