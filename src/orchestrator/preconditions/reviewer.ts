import { say } from '../../base/say.ts';
import type { Precondition } from './precondition.ts';

/** Agents that can be restricted to read-only tools. */
const LIMITABLE: ReadonlySet<string> = new Set(['claude', 'sdk']);

/** Whether an agent can be restricted to read-only tools. */
export function canBeLimited(agent: string): boolean {
  return LIMITABLE.has(agent);
}

/** If a reviewer is configured, it can be prevented from writing. */
export const reviewer: Precondition = {
  id: 'reviewer',
  async judge({ settings }) {
    if (!settings.reviewer) {
      return { level: 'holds', message: 'No reviewer is asked for.' };
    }
    return canBeLimited(settings.agent)
      ? { level: 'holds', message: 'A reviewer looks at each story.' }
      : {
          level: 'refuses',
          message: say(
            'The reviewer uses read-only tools, and the agent {0} cannot be limited to them.',
            settings.agent,
          ),
          next: say('Use --agent claude or sdk, or leave out --reviewer.'),
        };
  },
};
