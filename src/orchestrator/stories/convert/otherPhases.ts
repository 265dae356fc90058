import { PHASE_ID_KEYS, type Phase } from '../formats/orchestrationPhases.ts';
import { type Entry, isVoid } from '../formats/prdEntry.ts';
import { STATE_KEYS } from '../formats/prdKeys.ts';
import type { Story } from '../story.ts';
import { isStateOfAll } from './otherEpics.ts';
import { isNeedKey, type KnownStories, otherNeedKeys, phaseLeavesOut } from './otherNeeds.ts';

/**
 * The keys of the phases of an orchestration that its stories do not say: the name is their group, and what a phase
 * waits for, each of its stories waits for. All keys of a phase without stories.
 * @param stories of all phases, in their order
 */
export function otherPhaseKeys(
  phases: readonly Phase[],
  stories: readonly Story[],
  known: KnownStories,
): string[] {
  let end = 0;
  const keys = phases.flatMap(({ entry, tasks }, index) => {
    const start = end;
    end += tasks.length;
    const own = stories.slice(start, end);
    return Object.keys(entry).flatMap(key =>
      key === 'tasks' || isVoid(entry[key])
        ? []
        : isNeedKey(key) && own.length > 0
          ? own.some(story => phaseLeavesOut(entry[key], story, known))
            ? [key]
            : otherNeedKeys(entry, key)
          : isSaid(entry, key, { own, index })
            ? []
            : [key],
    );
  });
  return [...new Set(keys)].map(key => `phases.${key}`);
}

/** Whether the stories of a phase say what it has under a key. */
function isSaid(
  phase: Entry,
  key: string,
  { index, own }: { readonly own: readonly Story[]; readonly index: number },
): boolean {
  const value = phase[key];
  const [first] = own;
  if (first === undefined) {
    return false;
  }
  if (STATE_KEYS.some(one => one === key)) {
    return isStateOfAll(phase, value, own);
  }
  if (PHASE_ID_KEYS.includes(key)) {
    // What counts the phases is their order.
    return (
      typeof value === 'string' && (value.trim() === first.epic || Number(value) === index + 1)
    );
  }
  return key === 'name' && typeof value === 'string' && value.trim() === first.epic;
}
