/** Something that must never happen, whatever is killed. */
export class Violation extends Error {}
