/** The work cannot be played back here; the message is for the person, one line. */
export class NeedsHuman extends Error {}
/** A command failed, so the story is not done. */
export class PlaybackFailed extends Error {}
