// Orchestrations in YAML as a schema: completion and explanations for the YAML extension. As permissive as the reader
// (docs/story-files.md).
import * as z from 'zod';
import { CHOICE_KEYS } from '../../src/orchestrator/stories/formats/callChoice.ts';
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

/** The words that a task usually has; the reader knows more. */
const STATUSES = ['pending', 'in_progress', 'completed', 'blocked', 'skipped', 'deferred'] as const;
const NEEDS = ['depends_on', 'dependsOn', 'dependencies', 'blocked_by', 'blockedBy'];

function taskSchemaIn(t: SchemaWords) {
  return z
    .looseObject({
      id: usually(z.string(), z.number())
        .describe(t('Names the task, once in the file: T1.1, T1.2, …'))
        .optional(),
      name: text().describe(t('One line: what is to be done.')).optional(),
      description: descriptionField(t),
      done_criteria: usually(z.string(), z.array(usually(z.string())))
        .describe(
          t(
            'What can be checked when the story is done, one thing each: “POST /todos without a title answers 400”, “Tests pass”.',
          ),
        )
        .optional(),
      status: usually(z.enum(STATUSES), z.string())
        .describe(
          t(
            'The state of the task: “completed” is done, “skipped” and “deferred” are never next, everything else is open.',
          ),
        )
        .optional(),
      ...fields(
        NEEDS,
        t('Ids of tasks or phases that must be done before this one may run.'),
        texts,
        t,
      ),
      commits: texts()
        .describe(t('The commits that did the task; a run adds their hashes.'))
        .optional(),
      priority: priorityField(t),
      ...choiceFields([...CHOICE_KEYS.maxTurns].reverse(), t),
    })
    .meta({
      id: 'task',
      description: t('A task: a piece of work that one agent can finish, test and commit.'),
      defaultSnippets: [
        {
          label: t('New task'),
          description: t('id, name, criteria, status, commits'),
          body: newTask(t),
        },
      ],
    });
}

function newTask(t: SchemaWords, first = 1) {
  return {
    id: `T${tab(first, '1.1')}`,
    name: tab(first + 1, t('One small step that a single agent can finish')),
    done_criteria: tab(first + 2, t('Something that can be checked')),
    status: 'pending',
    commits: [],
  };
}

function orchestrationSchemaIn(t: SchemaWords) {
  const tasks = z.array(usually(taskSchemaIn(t)));
  const phase = z
    .looseObject({
      id: text().describe(t('Another name of the phase, for what waits for it.')).optional(),
      name: text().describe(t('Groups tasks in the list.')).optional(),
      ...fields(
        NEEDS,
        t('Ids of tasks or phases that must be done before the tasks of this phase may run.'),
        texts,
        t,
      ),
      tasks: usually(tasks).describe(t('The tasks, in the order in which they run.')).optional(),
    })
    .meta({ id: 'phase', description: t('A phase: tasks that belong together.') });
  return z.looseObject({
    name: text().describe(t('What is being built.')).optional(),
    description: text()
      .describe(t('What the stories together achieve: every agent is told.'))
      .optional(),
    branch: text()
      .describe(t('The git branch that the work goes to; a run creates it when it is not there.'))
      .optional(),
    phases: usually(z.array(usually(phase)))
      .describe(t('The phases, in their order.'))
      .optional(),
    tasks: usually(tasks)
      .describe(t('The tasks of a file without phases, in the order in which they run.'))
      .optional(),
  });
}

/**
 * The text of a file in schemas/.
 * @param translations by their English texts; English if absent
 */
export function orchestrationSchemaText(
  translations: Readonly<Record<string, string>> = {},
): string {
  const t = wordsOf(translations);
  const fileSnippet = {
    label: t('New orchestration'),
    description: t('name, a phase and a first task'),
    body: {
      name: tab(1, t('Name')),
      phases: [{ name: tab(2, t('Name')), tasks: [newTask(t, 3)] }],
    },
  };
  return jsonSchemaText(orchestrationSchemaIn(t), {
    title: t('Orchestration of Ralph Fresh'),
    defaultSnippets: [fileSnippet],
  });
}
