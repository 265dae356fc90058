// The task list of ralphy in YAML as a schema: completion and explanations for the YAML extension. As permissive as the
// reader (docs/story-files.md).
import * as z from 'zod';
import { CHOICE_KEYS } from '../../src/orchestrator/stories/formats/callChoice.ts';
import {
  choiceFields,
  descriptionField,
  jsonSchemaText,
  type SchemaWords,
  tab,
  text,
  texts,
  usually,
  wordsOf,
} from './schemaParts.ts';

function taskSchemaIn(t: SchemaWords) {
  return z
    .looseObject({
      title: text().describe(t('One line: what is to be done.')).optional(),
      description: descriptionField(t),
      completed: usually(z.boolean())
        .describe(t('Whether the task is done; a tick writes it.'))
        .optional(),
      parallel_group: usually(z.int().min(1))
        .describe(
          t('Tasks with the same number may run at once, after all of the next lower number.'),
        )
        .optional(),
      depends_on: texts()
        .describe(t('Titles or ids of tasks that must be done before this one may run.'))
        .optional(),
      ...choiceFields([...CHOICE_KEYS.maxTurns].reverse(), t),
    })
    .meta({
      id: 'task',
      description: t('A task: a piece of work that one agent can finish, test and commit.'),
      defaultSnippets: [
        { label: t('New task'), description: t('title and completed'), body: newTask(t) },
      ],
    });
}

function newTask(t: SchemaWords) {
  return { title: tab(1, t('One small step that a single agent can finish')), completed: false };
}

/**
 * The text of a file in schemas/.
 * @param translations by their English texts; English if absent
 */
export function ralphySchemaText(translations: Readonly<Record<string, string>> = {}): string {
  const t = wordsOf(translations);
  const schema = z.looseObject({
    tasks: usually(z.array(usually(taskSchemaIn(t))))
      .describe(t('The tasks, in the order in which they run.'))
      .optional(),
  });
  return jsonSchemaText(schema, {
    title: t('Tasks of ralphy'),
    defaultSnippets: [
      {
        label: t('New list of tasks'),
        description: t('a first task'),
        body: { tasks: [newTask(t)] },
      },
    ],
  });
}
