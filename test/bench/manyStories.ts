import { applyEvent, foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import type { RunState } from '../../src/orchestrator/journal/runState.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { NO_FILTER } from '../../src/views/stories/storyFilter.ts';
import { StoryNodes } from '../../src/views/stories/storyNodes.ts';
import { LANES, sixteenLanes } from '../support/sixteenLanes.ts';
import { benchStories, storyFileText } from './benchWorkspace.ts';
import { medianMs, type Row } from './row.ts';

const STORIES = 5_000;
const MAX_MS = 50;

/** Reads a story file of 5,000 stories from bytes to the model, compared with JSON.parse of its text. */
export function manyStories(): Row[] {
  const bytes = Buffer.from(storyFileText(benchStories(STORIES, STORIES / 2)));
  const text = bytes.toString('utf8');
  const ms = medianMs(() => {
    const read = parseStoryFile('/bench/prd.json', bytes);
    if (read.kind !== 'stories' || read.stories.length !== STORIES) {
      throw new Error('The stories were not read.');
    }
  }, 15);
  const bareMs = medianMs(() => void JSON.parse(text), 15);
  return [
    {
      what: `${STORIES} stories (${(bytes.length / 1e6).toFixed(1)} MB; JSON.parse alone: ${bareMs.toFixed(0)} ms)`,
      budget: `≤ ${MAX_MS} ms`,
      value: `${ms.toFixed(0)} ms`,
      ratio: (ms / bareMs).toFixed(1),
      isWithin: ms <= MAX_MS,
      decides: false,
    },
    linesOfLanes(bytes),
  ];
}

/** One of sixteen agents does something else: how many lines of the Stories view change? */
function linesOfLanes(bytes: Buffer): Row {
  const file = parseStoryFile('/bench/.omc/prd.json', bytes);
  const stories = file.kind === 'stories' ? file.stories.filter(({ done }) => !done) : [];
  const begun = foldRun(sixteenLanes(number => stories[number - 1]?.id ?? ''));
  const nodes = new StoryNodes('/bench', 'bench');
  const drawn = (state: RunState) =>
    nodes.update({
      ...{ file, run: { runId: 'r1', state, alive: true }, states: [state] },
      ...{ filter: NO_FILTER, hasFolderLine: false },
    }).changed.length;
  drawn(begun);
  const counts = ['npm test', 'ls'].map((gist, at) =>
    drawn(
      applyEvent(begun, {
        ...{ seq: begun.lastSeq + 1 + at, at: '2026-01-01T10:10:00.000Z', type: 'agent.tool' },
        ...{ iteration: 7, id: 'tool', name: 'Bash', gist },
      }),
    ),
  );
  return {
    what: `lines drawn anew when one of ${LANES} agents on ${STORIES} stories does something else`,
    budget: '1',
    value: String(Math.max(...counts)),
    isWithin: Math.max(...counts) === 1,
    decides: true,
  };
}
