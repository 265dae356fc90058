import { saidOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { readProgressLog } from '../context/progressLog.ts';
import type { Precondition } from './precondition.ts';

/** The progress log is readable, so that the next agent learns from earlier ones. */
export const progress: Precondition = {
  id: 'progress',
  async judge({ progressFile }) {
    try {
      await (progressFile && readProgressLog(progressFile));
      return { level: 'holds', message: say('The progress log can be read.') };
    } catch (error) {
      return {
        level: 'warns',
        message: say('Agents are told nothing of the progress log: {0}', saidOf(error)),
      };
    }
  },
};
