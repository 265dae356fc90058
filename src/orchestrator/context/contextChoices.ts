import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';

/** What a person chose for prompts; paths are relative to the workspace, with forward slashes. */
export interface ContextChoices {
  /** Named first. */
  readonly pinned: readonly string[];
  /** Never named. */
  readonly barred: readonly string[];
}

/** The whole file: choices by story; those of `*` hold for all stories. */
export type ContextFile = { readonly stories: Readonly<Record<string, ContextChoices>> };

const MAX_BYTES = 1024 * 1024;
const ALL_STORIES = '*';

/**
 * Reads what a person chose for a story and for all stories.
 * @param file absolute path of `.omc/context.json`
 * @throws {HumanError} if the file cannot be understood
 */
export async function readContextChoices(
  file: string,
  storyId: string | undefined,
): Promise<ContextChoices> {
  const { stories } = await readContextFile(file);
  const own = storyId === undefined ? undefined : choicesOf(stories, storyId);
  const all = choicesOf(stories, ALL_STORIES);
  return {
    pinned: [...(own?.pinned ?? []), ...(all?.pinned ?? [])],
    barred: [...(own?.barred ?? []), ...(all?.barred ?? [])],
  };
}

/** Reads the file; empty if there is none. @throws {HumanError} if it cannot be understood */
export async function readContextFile(file: string): Promise<ContextFile> {
  const bytes = await readPlainFile(file, MAX_BYTES);
  if (bytes === undefined) {
    return { stories: {} };
  }
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw notUnderstood(file, messageOf(error));
  }
  const stories = (value as { stories?: unknown } | null)?.stories;
  if (
    typeof stories !== 'object' ||
    stories === null ||
    !Object.values(stories).every(areChoices)
  ) {
    throw notUnderstood(file, '{"stories": {"US-001": {"pinned": ["src/a.ts"], "barred": []}}}');
  }
  const entries = Object.entries(stories as Record<string, Partial<ContextChoices>>);
  return {
    stories: Object.fromEntries(
      entries.map(([id, { barred = [], pinned = [] }]) => [id, { pinned, barred }]),
    ),
  };
}

/** The file with other choices for one story; a story without choices is left out. */
export function withChoices(
  { stories }: ContextFile,
  storyId: string,
  change: (choices: ContextChoices) => ContextChoices,
): ContextFile {
  const { pinned, barred } = change(choicesOf(stories, storyId) ?? { pinned: [], barred: [] });
  const { [storyId]: _, ...others } = stories;
  return {
    stories:
      pinned.length + barred.length === 0 ? others : { ...others, [storyId]: { pinned, barred } },
  };
}

function choicesOf(stories: ContextFile['stories'], storyId: string): ContextChoices | undefined {
  return Object.hasOwn(stories, storyId) ? stories[storyId] : undefined;
}

function areChoices(value: unknown): boolean {
  const { barred = [], pinned = [] } = (value ?? {}) as Partial<ContextChoices>;
  return [barred, pinned].every(
    list => Array.isArray(list) && list.every(one => typeof one === 'string'),
  );
}

function notUnderstood(file: string, detail: string): HumanError {
  return new HumanError(
    say('{0} cannot be used: {1}. Correct it, or remove it to start anew.', file, detail),
  );
}
