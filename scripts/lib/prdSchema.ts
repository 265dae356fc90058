// The JSON dialects of a story file as a schema: what an editor offers and explains while somebody writes one. It is
// wide, since the reader is: a file that the reader takes must not be marked as wrong (docs/story-files.md).
import * as z from 'zod';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DONE_KEYS,
  DONE_WORDS,
  EPIC_KEYS,
  LIST_KEYS,
  PRIORITY_WORDS,
  TITLE_KEYS,
} from '../../src/orchestrator/stories/prdFormat.ts';

/** The best of it is offered, and anything is taken. */
const usually = (...usual: [z.ZodType, ...z.ZodType[]]) => z.union([...usual, z.unknown()]);
const text = () => usually(z.string());
const texts = () => usually(z.array(usually(z.string())));

const TELLING: Readonly<Record<string, string>> = {
  passes:
    'Whether the story is done. Only true counts; an agent sets it, and the checks of a run may put it back.',
  title: 'One line: what is to be done.',
  acceptanceCriteria:
    'What can be checked when the story is done, one thing each: “POST /todos without a title answers 400”, “Tests pass”.',
  dependsOn: 'Ids of stories that must be done before this one may run.',
  epic: 'Groups stories in the list.',
};

function describe(
  keys: readonly string[],
  canonical: string,
  one: () => z.ZodType,
): Record<string, z.ZodType> {
  const words = TELLING[canonical] ?? '';
  return Object.fromEntries(
    keys.map(key => [
      key,
      one()
        .describe(key === canonical ? words : `${words} The usual name is "${canonical}".`)
        .optional(),
    ]),
  );
}

/** A place of a snippet that the tab key goes to. */
const tab = (place: number, words: string) => `\${${place}:${words}}`;
const ONE_STEP = 'One small step that a single agent can finish';
const CHECK = 'Something that can be checked';
const storySnippet = {
  label: 'New story',
  description: 'id, title, description, criteria, priority, passes',
  body: {
    id: `US-${tab(1, '001')}`,
    title: tab(2, ONE_STEP),
    description: tab(3, 'As a user, I want …, so that …'),
    acceptanceCriteria: [tab(4, CHECK), 'The tests pass'],
    // The mark makes it a number.
    priority: `^${tab(5, '1')}`,
    passes: false,
  },
};
const fileSnippet = {
  label: 'New story file',
  description: 'project, branch, description and a first story',
  body: {
    project: tab(1, 'Name'),
    branchName: `ralph/${tab(2, 'topic')}`,
    description: tab(3, 'What the stories together achieve'),
    userStories: [
      {
        id: 'US-001',
        title: tab(4, ONE_STEP),
        acceptanceCriteria: [tab(5, CHECK), 'The tests pass'],
        priority: 1,
        passes: false,
      },
    ],
  },
};

const storySchema = z
  .looseObject({
    id: usually(z.string(), z.number())
      .describe('Names the story, once in the file: US-001, US-002, …')
      .optional(),
    ...describe(TITLE_KEYS, 'title', text),
    description: text()
      .describe('What is wanted and why, for an agent that knows nothing else of it.')
      .optional(),
    ...describe(
      CRITERIA_KEYS.filter(key => key !== 'tasks'),
      'acceptanceCriteria',
      texts,
    ),
    ...describe(DONE_KEYS, 'passes', () => usually(z.boolean())),
    status: usually(z.enum(['pending', 'in_progress', ...DONE_WORDS]), z.string())
      .describe(
        'A word for the state. It says whether the story is done only where there is no "passes".',
      )
      .optional(),
    priority: usually(z.number(), z.enum([...PRIORITY_WORDS.keys()] as [string, ...string[]]))
      .describe('The lowest number runs first; without one a story runs after all others.')
      .optional(),
    ...describe(DEPENDENCY_KEYS, 'dependsOn', texts),
    ...describe(EPIC_KEYS, 'epic', text),
    architectVerified: usually(z.boolean())
      .describe('Whether the reviewing agent has agreed; written by Ralph Fresh.')
      .optional(),
  })
  .meta({
    id: 'story',
    description: 'A story: a piece of work that one agent can finish, test and commit.',
    defaultSnippets: [storySnippet],
  });

const stories = () => z.array(usually(storySchema));

const lists = Object.fromEntries(
  LIST_KEYS.map(key => [
    key,
    usually(stories())
      .describe(
        key === 'userStories'
          ? 'The stories, in the order in which equal priorities run.'
          : 'The stories. The usual name is "userStories".',
      )
      .optional(),
  ]),
);

/** A story file in any of its JSON dialects. */
export const prdSchema = z.union([
  z.looseObject({
    ...lists,
    project: text().describe('What is being built.').optional(),
    branchName: text()
      .describe('The git branch that the work goes to; a run creates it when it is not there.')
      .optional(),
    description: text()
      .describe('What the stories together achieve: every agent is told.')
      .optional(),
    originalTask: text()
      .describe('The task that the stories were planned for, word for word.')
      .optional(),
  }),
  stories(),
]);

/** The text of schemas/prd.schema.json. */
export function prdSchemaText(): string {
  const schema = z.toJSONSchema(prdSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // What is said by "additionalProperties": {} is said by nothing, too.
      if (JSON.stringify(jsonSchema.additionalProperties) === '{}') {
        delete jsonSchema.additionalProperties;
      }
    },
  });
  const { $schema, ...rest } = schema;
  return `${JSON.stringify({ $schema, title: 'Stories of Ralph Fresh', defaultSnippets: [fileSnippet], ...rest }, null, 2)}\n`;
}
