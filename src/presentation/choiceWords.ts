import { shorten } from '../base/text.ts';
import type { CallChoice } from '../orchestrator/stories/story.ts';
import type { Translate } from './translate.ts';

/** Maximum length of a model's name, in UTF-16 units. */
const MAX_NAME = 80;

/** What a story chooses for the call of its agent, one part each; empty if it leaves everything open. */
export function choiceWords({ effort, maxTurns, model }: CallChoice, t: Translate): string[] {
  return [
    ...(model === undefined ? [] : [t('model {0}', shorten(model, MAX_NAME))]),
    ...(effort === undefined ? [] : [t('effort {0}', shorten(effort, MAX_NAME))]),
    ...(maxTurns === undefined
      ? []
      : [maxTurns === 1 ? t('at most 1 turn') : t('at most {0} turns', maxTurns)]),
  ];
}
