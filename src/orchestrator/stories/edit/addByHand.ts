import { type Message, say, sentences } from '../../../base/say.ts';
import { shellWord } from '../../../base/shellWord.ts';
import { shorten } from '../../../base/text.ts';
import type { StoryFormatName } from '../story.ts';
import type { NewStory } from './newStory.ts';

/** Longest title in a message, in UTF-16 units. */
const MAX_TITLE = 120;
const MAX_WHY = 300;

/** What a person does to add a story to a file that has no place for it, or whose own tool numbers its tasks. */
export function addByHand(format: StoryFormatName, path: string, story: NewStory): Message {
  return sentences([
    howTo(format, path, story),
    say('Then remove it from the list: ralph-fresh discovered drop {0}', shorten(story.id, 80)),
  ]);
}

function howTo(format: StoryFormatName, path: string, story: NewStory): Message {
  const title = shorten(story.title, MAX_TITLE);
  const why = story.why === undefined ? '' : shorten(story.why, MAX_WHY);
  const both = why === '' ? title : `${title}: ${why}`;
  switch (format) {
    case 'taskMaster':
      return byTool(path, 'Task Master', `task-master add-task --prompt=${shellWord(both)}`);
    case 'backlog': {
      const about = why === '' ? '' : ` --description ${shellWord(why)}`;
      return byTool(path, 'Backlog.md', `backlog task create ${shellWord(title)}${about}`);
    }
    case 'bmad':
      return say(
        'Only BMAD adds stories to {0}. Add this one to its epics, and let its sprint planning update the file: "{1}".',
        path,
        both,
      );
    case 'ralphOrchestrator':
      return byTool(path, 'ralph-orchestrator', `ralph tools task add ${shellWord(both)}`);
    case 'orchestration':
      return say(
        'A story cannot be added to {0} automatically, because its tasks are in brackets, or do not begin with "- " on lines of their own. Add it by hand: "{1}".',
        path,
        both,
      );
    default:
      return say(
        'A story cannot be added to {0} automatically. Add it by hand: "{1}".',
        path,
        both,
      );
  }
}

function byTool(path: string, tool: string, command: string): Message {
  return say('Only {0} adds tasks to {1}. Add this one with: {2}', tool, path, command);
}
