import * as z from 'zod';
import { once } from '../../base/once.ts';
import { type Message, say } from '../../base/say.ts';
import { boundedProblems, problemsOf } from '../agents/call/agentAnswer.ts';
import { jsonSchemaOf } from '../agents/call/jsonSchema.ts';
import { parseStoryFile } from '../stories/storyFile.ts';

/** Limits of a plan, so that no prompt made from it has to omit anything. Texts in UTF-16 units. */
export const PLAN_LIMITS = {
  stories: 100,
  project: 100,
  branchName: 100,
  planDescription: 4_000,
  title: 200,
  description: 4_000,
  criteria: 20,
  criterion: 500,
  priority: 10_000,
} as const;

const text = (max: number) => z.string().trim().min(1).max(max);
const line = (max: number) =>
  text(max).refine(value => !/[\r\n]/.test(value), say('must be one line of text').key);

const storySchema = () =>
  z.looseObject({
    id: z
      .string()
      .regex(/^[A-Z][A-Z0-9]{0,9}-\d{1,5}$/, say('must look like US-001').key)
      .describe('US-001, US-002, …'),
    title: line(PLAN_LIMITS.title),
    description: z.string().trim().max(PLAN_LIMITS.description).optional(),
    acceptanceCriteria: z.array(text(PLAN_LIMITS.criterion)).min(1).max(PLAN_LIMITS.criteria),
    priority: z.number().int().min(1).max(PLAN_LIMITS.priority),
    dependsOn: z.array(z.string()).max(PLAN_LIMITS.stories).optional(),
    passes: z.literal(false, say('must be false: nothing is done yet').key),
  });

const planSchema = once(() =>
  z.looseObject({
    project: line(PLAN_LIMITS.project),
    branchName: z
      .string()
      .max(PLAN_LIMITS.branchName)
      .refine(
        isBranchName,
        say('is no valid name of a git branch; use one like ralph/todo-api').key,
      ),
    description: text(PLAN_LIMITS.planDescription),
    userStories: z.array(storySchema()).min(1).max(PLAN_LIMITS.stories),
  }),
);

/** A valid plan as the text of a story file, or all problems of the draft. */
export type CheckedPlan =
  | { readonly text: string; readonly stories: number; readonly problems?: undefined }
  | { readonly problems: readonly Message[] };

/**
 * Validates a planning agent's draft: its structure, sizes, ids, that nothing is done yet, and that the
 * dependencies can be satisfied. Pure.
 *
 * @param task verbatim, stored in the file as `originalTask`
 */
export function checkPlan(draft: unknown, task: string): CheckedPlan {
  const parsed = planSchema().safeParse(draft);
  if (!parsed.success) {
    return { problems: problemsOf(parsed.error) };
  }
  const { project, branchName, description, userStories, ...others } = parsed.data;
  const plan = { project, branchName, description, ...others, originalTask: task, userStories };
  const content = `${JSON.stringify(plan, null, 2)}\n`;
  // The loop's interpretation of the file decides, not the intention.
  const file = parseStoryFile('prd.json', content);
  const problems = file.problems.map(({ message }) => message);
  if (file.kind === 'stories') {
    if (file.stories.length !== userStories.length) {
      problems.push(say('The stories must be under "userStories", and under no other key.'));
    }
    problems.push(
      ...file.stories
        .filter(({ done }) => done)
        .map(({ id }) => say('{0} is already marked as done: leave out its status.', id)),
    );
  }
  return problems.length > 0
    ? { problems: boundedProblems(problems) }
    : { text: content, stories: userStories.length };
}

/** The structure of a plan as JSON Schema, for agents that support it. */
export function planJsonSchema(): object {
  return jsonSchemaOf(planSchema());
}

/** Whether git accepts the text as a branch name (git-check-ref-format). Pure. */
export function isBranchName(name: string): boolean {
  return (
    /^[^\p{Cc} ~^:?*[\\]+$/u.test(name) &&
    !/^-|^@$|^HEAD$|\.\.|@\{|\.$/.test(name) &&
    name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
