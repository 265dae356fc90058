// The JSON dialects of a story file as a schema: completion and explanations in an editor. It is as permissive as the
// reader: a file that the reader accepts must not be marked as wrong (docs/story-files.md).
import * as z from 'zod';
import { CHOICE_KEYS } from '../../src/orchestrator/stories/formats/callChoice.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DONE_KEYS,
  DONE_WORDS,
  EPIC_KEYS,
  LIST_KEYS,
  TITLE_KEYS,
} from '../../src/orchestrator/stories/formats/prdKeys.ts';
import {
  choiceFields,
  descriptionField,
  fields,
  jsonSchemaText,
  priorityField,
  type SchemaWords,
  tab,
  text,
  texts,
  usually,
  wordsOf,
} from './schemaParts.ts';

function storySchemaIn(t: SchemaWords) {
  return z
    .looseObject({
      id: usually(z.string(), z.number())
        .describe(t('Names the story, once in the file: US-001, US-002, …'))
        .optional(),
      ...fields(TITLE_KEYS, t('One line: what is to be done.'), text, t),
      description: descriptionField(t),
      ...fields(
        CRITERIA_KEYS.filter(key => key !== 'tasks'),
        t(
          'What can be checked when the story is done, one thing each: “POST /todos without a title answers 400”, “Tests pass”.',
        ),
        texts,
        t,
      ),
      ...fields(
        DONE_KEYS,
        t(
          'Whether the story is done: true or false. An agent sets it, and the checks of a run may put it back.',
        ),
        () => usually(z.boolean(), z.string()),
        t,
      ),
      status: usually(z.enum(['pending', 'in_progress', ...DONE_WORDS]), z.string())
        .describe(
          t(
            'A word for the state. It says whether the story is done only where there is no "{0}".',
            'passes',
          ),
        )
        .optional(),
      priority: priorityField(t),
      ...fields(
        DEPENDENCY_KEYS,
        t('Ids of stories that must be done before this one may run.'),
        texts,
        t,
      ),
      ...fields(EPIC_KEYS, t('Groups stories in the list.'), text, t),
      parentEpic: text()
        .describe(t('The id or the title of its epic in the list "{0}".', 'epics'))
        .optional(),
      ...choiceFields(CHOICE_KEYS.maxTurns, t),
      architectVerified: usually(z.boolean())
        .describe(t('Whether the reviewing agent has agreed; written by Ralph Fresh.'))
        .optional(),
    })
    .meta({
      id: 'story',
      description: t('A story: a piece of work that one agent can finish, test and commit.'),
      defaultSnippets: [
        {
          label: t('New story'),
          description: t('id, title, description, criteria, priority, passes'),
          body: {
            id: `US-${tab(1, '001')}`,
            title: tab(2, t('One small step that a single agent can finish')),
            description: tab(3, t('As a user, I want …, so that …')),
            acceptanceCriteria: [tab(4, t('Something that can be checked')), t('The tests pass')],
            // The `^` makes it a number.
            priority: `^${tab(5, '1')}`,
            passes: false,
          },
        },
      ],
    });
}

function epicSchemaIn(t: SchemaWords) {
  return z.looseObject({
    id: usually(z.string(), z.number())
      .describe(t('Names the epic, once in the file: EPIC-1, EPIC-2, …'))
      .optional(),
    title: text().describe(t('The name of the group in the list.')).optional(),
    children: texts().describe(t('Ids of its stories.')).optional(),
    blockedBy: texts()
      .describe(t('Ids of epics or stories that must be done before its stories may run.'))
      .optional(),
  });
}

function prdSchemaIn(t: SchemaWords) {
  const stories = z.array(usually(storySchemaIn(t)));
  const lists = Object.fromEntries(
    LIST_KEYS.map(key => [
      key,
      usually(stories)
        .describe(
          key === 'userStories'
            ? t('The stories, in the order in which equal priorities run.')
            : t('The stories. The usual name is "{0}".', 'userStories'),
        )
        .optional(),
    ]),
  );
  return z.union([
    z.looseObject({
      ...lists,
      epics: usually(z.array(usually(epicSchemaIn(t))))
        .describe(t('Groups of stories, which can wait for each other.'))
        .optional(),
      project: text().describe(t('What is being built.')).optional(),
      branchName: text()
        .describe(t('The git branch that the work goes to; a run creates it when it is not there.'))
        .optional(),
      description: text()
        .describe(t('What the stories together achieve: every agent is told.'))
        .optional(),
      originalTask: text()
        .describe(t('The task that the stories were planned for, word for word.'))
        .optional(),
    }),
    stories,
  ]);
}

/** A story file in any of its JSON dialects. */
export const prdSchema = prdSchemaIn(wordsOf());

/**
 * The text of a file in schemas/.
 * @param translations by their English texts; English if absent
 */
export function prdSchemaText(translations: Readonly<Record<string, string>> = {}): string {
  const t = wordsOf(translations);
  const fileSnippet = {
    label: t('New story file'),
    description: t('project, branch, description and a first story'),
    body: {
      project: tab(1, t('Name')),
      branchName: `ralph/${tab(2, t('topic'))}`,
      description: tab(3, t('What the stories together achieve')),
      userStories: [
        {
          id: 'US-001',
          title: tab(4, t('One small step that a single agent can finish')),
          acceptanceCriteria: [tab(5, t('Something that can be checked')), t('The tests pass')],
          priority: 1,
          passes: false,
        },
      ],
    },
  };
  return jsonSchemaText(prdSchemaIn(t), {
    title: t('Stories of Ralph Fresh'),
    defaultSnippets: [fileSnippet],
  });
}
