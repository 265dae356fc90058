import { GrowingFile } from '../../base/growingFile.ts';
import { isActivityLine, isChatterLine } from './chatter.ts';
import { parseRunEvent } from './events.ts';
import { applyEvent } from './foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from './runState.ts';

/** A run as its journal tells it up to a place. */
export interface FoldedJournal {
  readonly state: RunState;
  /** In bytes, just behind a line break. */
  readonly offset: number;
}

const NOTHING: FoldedJournal = { state: INITIAL_RUN_STATE, offset: 0 };

/**
 * Folds a journal line by line, so that the largest one takes no memory; of what an agent says and does in a row only
 * the last is parsed, since it hides all before.
 * @param from what is folded already
 */
export async function foldJournal(
  file: string,
  from: FoldedJournal = NOTHING,
): Promise<FoldedJournal> {
  const lines = new GrowingFile(file, from.offset);
  let { state } = from;
  let activity: string | undefined;
  let chatter: string | undefined;
  const apply = (line: string | undefined) => {
    const event = line === undefined ? undefined : parseRunEvent(line);
    if (event) {
      state = applyEvent(state, event);
    }
  };
  const applyHeld = () => {
    apply(activity);
    // For its number alone.
    apply(chatter);
    activity = undefined;
    chatter = undefined;
  };
  await lines.readNew(line => {
    if (isActivityLine(line)) {
      activity = line;
      chatter = undefined;
    } else if (isChatterLine(line)) {
      chatter = line;
    } else {
      applyHeld();
      apply(line);
    }
  });
  applyHeld();
  return { state, offset: lines.position };
}

/** The whole run, by its journal alone: for what decides. */
export async function readRunState(file: string): Promise<RunState> {
  return (await foldJournal(file)).state;
}
