import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
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
  ];
}
