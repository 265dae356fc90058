import { withoutOutsiders } from './formats/issueCopy.ts';

let ask: () => boolean = () => false;
let given: boolean | undefined;

/**
 * Sets the function that reads whether a person lets agents read what outsiders have written. It is only called for a
 * copy of issues that has such texts, so commands need not read settings for it.
 */
export function askForOutsiderTexts(answer: () => boolean): void {
  ask = answer;
}

/** Decides it for the lifetime of this process, as its command line says; `undefined` if that says nothing. */
export function chooseOutsiderTexts(areRead: boolean | undefined): void {
  given = areRead;
}

/**
 * The root of a list as it is read. It is not a question of who has made a copy of issues: it may have come with the
 * repository, or be from a time with another setting.
 */
export function rootAsRead(root: unknown): unknown {
  const safe = withoutOutsiders(root);
  return safe === root || !(given ?? ask()) ? safe : root;
}
