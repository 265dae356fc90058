import { HumanError } from '../../base/humanError.ts';
import { type Message, say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { UsageError } from '../../base/usageError.ts';
import { closedTaskOf, isAside, waitsForAside } from '../stories/asideReason.ts';
import { doneIds, openDependencies } from '../stories/select.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { unknownWords, waitsForUnknown } from '../stories/unknownNeeds.ts';

/** Of an id or a status in a message, in UTF-16 units. */
const MAX_WORD = 80;
/** Of several ids together. */
const MAX_IDS = 200;

/**
 * @throws {UsageError} if a chosen story is not in the file
 * @throws {HumanError} if no agent would work on one: it is put aside, or waits for one that is not chosen
 */
export function requireChosen(chosen: readonly string[], list: StoryList): void {
  const { stories } = list;
  const ids = new Set(stories.map(({ id }) => id));
  const unknown = chosen.filter(id => !ids.has(id));
  if (unknown.length > 0) {
    throw new UsageError(
      say(
        'There is no story {0} in the story file. "ralph-fresh stories" lists them.',
        shorten(unknown.join(', '), MAX_IDS),
      ),
    );
  }
  const open = stories.filter(({ id, done }) => !done && chosen.includes(id));
  for (const story of open.filter(isAside)) {
    throw new HumanError(asideMessage(list, story));
  }
  // A chosen open story is done before those that depend on it.
  const counted = new Set([...doneIds(stories), ...chosen]);
  for (const story of open) {
    const missing = openDependencies(story, counted);
    if (missing.length > 0) {
      throw new HumanError(waitingMessage(list, story, missing));
    }
  }
}

/** A run would end at once, as if the story were done. */
function asideMessage(list: StoryList, story: Story): Message {
  const id = shorten(story.id, MAX_WORD);
  const task = closedTaskOf(list, story);
  if (task?.done) {
    return say(
      'No agent works on {0}, because its task {1} is done. Set that back first: {2}',
      id,
      shorten(task.id, MAX_WORD),
      `ralph-fresh untick ${shellWord(task.id)}`,
    );
  }
  const word = shorten((task ?? story).status ?? '', MAX_WORD);
  if (task !== undefined) {
    return say(
      'No agent works on {0}, because the story file has put its task {1} aside ({2}). Reopen that there first.',
      ...[id, shorten(task.id, MAX_WORD), word],
    );
  }
  return word === ''
    ? say(
        'No agent works on {0}, because the story file has put it aside. Reopen it there first.',
        id,
      )
    : say(
        'No agent works on {0}, because the story file has put it aside ({1}). Reopen it there first.',
        ...[id, word],
      );
}

/** Nobody is told to run what no agent works on. */
function waitingMessage(
  { path, problems, stories }: StoryList,
  story: Story,
  missing: readonly string[],
): Message {
  const id = shorten(story.id, MAX_WORD);
  const only = new Set([story.id]);
  const [unknown] = waitsForUnknown(stories, problems, only);
  if (unknown !== undefined) {
    return unknownWords(unknown, path);
  }
  const [aside] = waitsForAside(stories, only);
  if (aside === undefined) {
    return say(
      '{0} waits for {1}. Run that first, or name it too: {2}.',
      id,
      shorten(missing.join(', '), MAX_IDS),
      shorten(missing.map(need => `--story ${shellWord(need)}`).join(' '), MAX_IDS),
    );
  }
  const on = shorten(aside.on, MAX_WORD);
  return aside.status === undefined
    ? say(
        '{0} waits for {1}, which is put aside. Reopen {1} in the story file, or mark it as done.',
        id,
        on,
      )
    : say(
        '{0} waits for {1}, which is put aside ({2}). Reopen {1} in the story file, or mark it as done.',
        ...[id, on, shorten(aside.status, MAX_WORD)],
      );
}
