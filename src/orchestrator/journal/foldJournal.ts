import { GrowingFile } from '../../base/growingFile.ts';
import { activityOfLine, isChatterLine } from './chatter.ts';
import { parseRunEvent } from './events.ts';
import { Folding } from './foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from './runState.ts';

/** The state of a run, folded from its journal up to an offset. */
export interface FoldedJournal {
  readonly state: RunState;
  /** In bytes, directly after a line break. */
  readonly offset: number;
}

const NOTHING: FoldedJournal = { state: INITIAL_RUN_STATE, offset: 0 };

/**
 * Folds a journal line by line, so that even a very large one needs little memory. Of consecutive chatter lines,
 * only the last of each iteration is parsed, because it replaces all previous ones.
 * @param from the state to continue from
 */
export async function foldJournal(
  file: string,
  from: FoldedJournal = NOTHING,
): Promise<FoldedJournal> {
  const lines = new GrowingFile(file, from.offset);
  const folding = new Folding(from.state);
  /** The last line by iteration: several agents may speak in turn. */
  const activities = new Map<string, string>();
  let chatter: string | undefined;
  const apply = (line: string | undefined) => {
    const event = line === undefined ? undefined : parseRunEvent(line);
    if (event) {
      folding.apply(event);
    }
  };
  const applyHeld = () => {
    for (const activity of activities.values()) {
      apply(activity);
    }
    // Only its sequence number matters.
    apply(chatter);
    activities.clear();
    chatter = undefined;
  };
  await lines.readNew(line => {
    const iteration = activityOfLine(line);
    if (iteration !== undefined) {
      // In the order of the journal: the newest line is applied last.
      activities.delete(iteration);
      activities.set(iteration, line);
      chatter = undefined;
    } else if (isChatterLine(line)) {
      chatter = line;
    } else {
      applyHeld();
      apply(line);
    }
  });
  applyHeld();
  return { state: folding.state, offset: lines.position };
}

/** The state of the whole run, from its journal alone. For decisions. */
export async function readRunState(file: string): Promise<RunState> {
  return (await foldJournal(file)).state;
}
