import { type Message, say } from '../../base/say.ts';
import type { Agent } from '../agents/agent.ts';
import { plainText } from '../stories/formats/plainText.ts';
import type { Story } from '../stories/story.ts';

/** Maximum number of named stories. */
const MAX_NAMED = 5;

/** What the open stories choose for their agent although it has no effect there; `undefined` if there is nothing. */
export function ignoredChoices(
  { id, ignores = [] }: Pick<Agent, 'id' | 'ignores'>,
  stories: readonly Story[],
): Message | undefined {
  const chosen = (story: Story) => ignores.filter(choice => story[choice] !== undefined);
  const affected = stories.filter(story => !story.done && chosen(story).length > 0);
  if (affected.length === 0) {
    return undefined;
  }
  const choices = ignores.filter(choice => affected.some(story => story[choice] !== undefined));
  const names = affected.slice(0, MAX_NAMED).map(story => plainText(story.id));
  return say(
    'The agent {0} does not support {1}, so what these stories choose has no effect: {2}.',
    id,
    choices.map(choice => `"${choice}"`).join(', '),
    [...names, ...(affected.length > MAX_NAMED ? ['…'] : [])].join(', '),
  );
}
