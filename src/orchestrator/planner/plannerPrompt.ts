import { fenced } from '../../base/fenced.ts';
import { englishOf, type Message } from '../../base/say.ts';
import { shortenBlock } from '../../base/text.ts';
import { PLAN_LIMITS } from './planDraft.ts';

/** Maximum length of a task in the prompt, in UTF-16 units: a whole specification. */
const MAX_TASK = 60_000;

/** The input of the planning prompt. */
export interface PlannerPromptInput {
  /** The person's task. */
  readonly task: string;
  /** The path of the story file, relative to the workspace, with forward slashes. */
  readonly storyFile: string;
  /** The previous draft, if it was rejected. */
  readonly refused?: {
    readonly problems: readonly Message[];
    /** The path of that draft, relative to the workspace; absent if the answer contained none. */
    readonly draftFile?: string;
  };
}

/** The prompt of a planning agent. Pure. */
export function plannerPrompt({ task, storyFile, refused }: PlannerPromptInput): string {
  return `${[
    `# Ralph Fresh - Planning

You plan work that other agents will do. Each of them starts with a fresh context, sees one story and the code, and has no memory of you or of each other.
You only read: change no file, and run nothing. The loop writes ${storyFile} from your answer.`,
    section(
      'The Task',
      `What the person asked for, word for word:\n\n${fenced(shortenBlock(task, MAX_TASK))}`,
    ),
    ...(refused === undefined ? [] : [section('The Last Draft Was Refused', refusal(refused))]),
    section(
      'How to Plan',
      `1. **READ** the code base first: what it is built with, what of the task is there already, how it is tested and checked, its conventions (README, CLAUDE.md, AGENTS.md). Plan nothing that is already done. A ${storyFile} or progress.txt that you find is of earlier work: it is put into an archive, so do not copy its stories.
2. **CUT** the task into stories that one agent can finish, test and commit within one context window: a data model, one endpoint, one screen, one command. If you cannot say a story in two or three sentences, split it. Every part of the task belongs to exactly one story, and nothing else does.
3. **ORDER** them: what others build on comes first (schema, then logic, then interface). \`priority\` counts up from 1 in that order; \`dependsOn\` names the ids that must be done before, and only these.
4. **WRITE CRITERIA** that an agent can check by a command or by looking at the code: "POST /todos without a title answers 400", never "works well". Name files, routes and commands of this code base where they matter.
5. **END** each story's criteria with the project's own checks, such as "Typecheck passes" and "Tests pass", as far as the project has them; a story that sets them up names them.`,
    ),
    section(
      'Your Answer',
      `One JSON object of this shape: as structured data when you are given a tool for that, else as the last thing you say, in one \`\`\`json block.

\`\`\`json
{
  "project": "Todo API",
  "branchName": "ralph/todo-api",
  "description": "A small HTTP API for todos, in two or three sentences.",
  "userStories": [
    {
      "id": "US-001",
      "title": "Create a todo",
      "description": "As a client I want to create a todo so that I do not have to remember it.",
      "acceptanceCriteria": ["POST /todos answers 201 with the new todo", "Tests pass"],
      "priority": 1,
      "passes": false
    },
    {
      "id": "US-002",
      "title": "List all todos",
      "description": "As a client I want to see all todos.",
      "acceptanceCriteria": ["GET /todos answers 200 with all todos, oldest first", "Tests pass"],
      "priority": 2,
      "dependsOn": ["US-001"],
      "passes": false
    }
  ]
}
\`\`\`

- 1 to ${PLAN_LIMITS.stories} stories; ids US-001, US-002, … without repeats; \`passes\` is false everywhere.
- \`branchName\` is a new git branch for this work.
- Titles up to ${PLAN_LIMITS.title} characters on one line, 1 to ${PLAN_LIMITS.criteria} criteria of up to ${PLAN_LIMITS.criterion} characters each.
- Dependencies name ids of this plan and never form a circle.`,
    ),
  ].join('\n\n')}\n`;
}

function refusal({ problems, draftFile }: NonNullable<PlannerPromptInput['refused']>): string {
  const draft =
    draftFile === undefined
      ? 'Another agent answered without a plan that could be read.'
      : `Another agent's draft is in ${draftFile}. Read it, keep what is good, and answer with the whole plan, fixed.`;
  return `${draft} What was wrong:\n\n${fenced(problems.map(problem => `- ${englishOf(problem)}`).join('\n'))}`;
}

function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}
