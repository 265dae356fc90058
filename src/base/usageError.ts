import { HumanError } from './humanError.ts';

/** Wrong arguments that only show once files were looked at: a story, an iteration, a run that there is not. */
export class UsageError extends HumanError {}
