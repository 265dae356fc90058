import type { Edit } from 'jsonc-parser';

/** How much a problem matters: the file cannot be used; the loop does something else than was meant; a hint. */
export type Severity = 'error' | 'warning' | 'info';

/** One way to mend a problem. Applying its edits to the text takes the problem away and touches nothing else. */
export interface StoryMend {
  readonly kind: /** `values`: the id. */
    | 'giveId'
    /** `values`: the old id, the new one. */
    | 'replaceDependency'
    /** `values`: the id that is no longer waited for. */
    | 'removeDependency'
    /** `values`: the key. */
    | 'addField'
    /** `values`: the old key, the new one. */
    | 'renameKey'
    /** `values`: the key, the new value as JSON. */
    | 'setValue'
    | 'removeEntry'
    | 'makeStory'
    | 'addFirstStory'
    | 'insertComma'
    | 'removeComma'
    | 'removeComment';
  readonly values: readonly string[];
  readonly edits: readonly Edit[];
  /** There is no other sensible mend, so it may be made without asking for each. */
  readonly isClear: boolean;
}

/** Something wrong with a story file, told with its range and the ways to mend it. */
export interface StoryDiagnosis {
  /** Stable, as in the settings of an editor or in a script. */
  readonly code: string;
  readonly severity: Severity;
  /** English sentence that names the mend. */
  readonly message: string;
  /** Offsets in the text without byte order mark, in UTF-16 units; `end` is behind the last character. */
  readonly start: number;
  readonly end: number;
  /** Made when asked for, since there may be a thousand problems and a person mends one. */
  readonly mends: () => readonly StoryMend[];
}
