import type { Message } from '../../../base/say.ts';
import type { StatusUse } from '../formats/statusWord.ts';
import type { Habits } from './habits.ts';
import type { Severity, StoryFix } from './storyDiagnosis.ts';

/** A problem of one entry: part of a diagnosis, at one of its members or at the entry itself. */
export interface Complaint {
  readonly code: string;
  readonly severity: Severity;
  readonly message: Message;
  readonly key?: string;
  readonly fixes?: () => readonly StoryFix[];
}

/** The context for checking an entry. */
export interface Surroundings {
  readonly habits: Habits;
  readonly ids: ReadonlySet<string>;
  readonly statuses: readonly (StatusUse | undefined)[];
  readonly taken: Set<string>;
}
