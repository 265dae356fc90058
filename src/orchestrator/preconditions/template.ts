import path from 'node:path';
import { readPromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import type { Precondition } from './precondition.ts';

/** The person's own prompt template, if there is one, is valid. */
export const template: Precondition = {
  id: 'prompt',
  async judge({ files: { workspace } }) {
    const found = await readPromptTemplate(promptTemplateOf(workspace));
    return {
      level: 'holds',
      message:
        found === undefined
          ? 'Agents get the usual prompt.'
          : `The prompt is made of ${found.file}`,
    };
  },
};

/** The path of a person's own prompt template. */
export function promptTemplateOf(workspace: string): string {
  return path.join(workspace, '.omc', 'prompt.md');
}
