import { HumanError } from './humanError.ts';

/**
 * Invalid arguments that are only detected after reading files: a story, an iteration or a run that does not exist.
 */
export class UsageError extends HumanError {}
