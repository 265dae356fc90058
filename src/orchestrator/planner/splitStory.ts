import { fenced } from '../../base/fenced.ts';
import { HumanError } from '../../base/humanError.ts';
import { englishOf, type Message, say, sentences } from '../../base/say.ts';
import { titleAfterId } from '../../base/storyTitle.ts';
import { shortenBlock } from '../../base/text.ts';
import { descriptionBelow, type Story } from '../stories/story.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import { askPlanner, MAX_ATTEMPTS } from './askPlanner.ts';
import type { DraftOptions, DraftResult } from './planner.ts';
import { applySplit, checkSplit, MAX_PARTS, openStory, splitJsonSchema } from './splitDraft.ts';
import { readStoryText } from './writePlan.ts';

/** Maximum length of a story in the prompt, in UTF-16 units. */
const MAX_STORY = 20_000;

/**
 * Lets a fresh agent split one story into two to five smaller ones; nothing is written.
 * @param storyId of an open story in the story file
 * @param hint the person's comment; may be empty
 * @returns the whole text of the resulting story file
 * @throws {HumanError} if there is no such story
 */
export async function draftSplit(
  { call, files, journal, storyFile }: DraftOptions,
  storyId: string,
  hint: string,
): Promise<DraftResult> {
  const text = await readStoryText(storyFile);
  const file = text === undefined ? undefined : parseStoryFile(storyFile, text);
  // Task Master has files in JSON, too, and rules of its own for what is in them.
  if (text === undefined || file?.format !== 'prd' || !/\.json$/i.test(storyFile)) {
    throw new HumanError(
      say(
        'Only stories in a JSON file such as prd.json can be split. {0} is not one; split the story by hand.',
        storyFile,
      ),
    );
  }
  const story = openStory(file, storyId);
  const answer = await askPlanner(
    { call, journal },
    {
      prompt: problems => splitPrompt(story, hint, problems),
      jsonSchema: splitJsonSchema(),
      isFixed: false,
      async check(found) {
        const split = checkSplit(found);
        return split.problems === undefined ? { value: split.parts } : split;
      },
    },
  );
  switch (answer.kind) {
    case 'answered': {
      const { value: parts, kind: _, ...facts } = answer;
      return {
        kind: 'drafted',
        text: applySplit(text, storyId, parts),
        stories: parts.length,
        ...facts,
      };
    }
    case 'refused':
      return {
        kind: 'failed',
        message: say(
          'The planning agent gave no valid split of the story in {0} tries in {1}: {2} Describe how to split it, or split it in the file.',
          MAX_ATTEMPTS,
          files.workspace,
          sentences(answer.problems.slice(0, 3)),
        ),
      };
    default:
      return answer;
  }
}

/** The prompt of the splitting agent. Pure. */
function splitPrompt(story: Story, hint: string, problems: readonly Message[]): string {
  const told = [
    `${story.id}${titleAfterId(story.id, story.title)}`,
    descriptionBelow(story),
    ...story.criteria.map(criterion => `- ${criterion.text}`),
  ].join('\n');
  return `${[
    `# Ralph Fresh - Splitting a Story

You cut one story into smaller ones that other agents will do. Each of them starts with a fresh context, sees one story and the code, and has no memory of you or of each other. The story as it is made no progress: it is too large or not clear enough for one agent.
You only read: change no file, and run nothing.`,
    `## The Story\n${fenced(shortenBlock(told, MAX_STORY))}`,
    ...(hint === '' ? [] : [`## What the Person Says\n${fenced(hint)}`]),
    ...(problems.length === 0
      ? []
      : [
          `## The Last Answer Was Refused\n${fenced(problems.map(problem => `- ${englishOf(problem)}`).join('\n'))}`,
        ]),
    `## How to Split
1. **READ** the code that the story is about, what of it is done already, and progress.txt next to the story file.
2. **CUT** it into 2 to ${MAX_PARTS} parts, each small enough for one agent to finish, test and commit. Together they achieve the story, and nothing else.
3. **WRITE CRITERIA** that an agent can check by a command or by looking at the code. Each criterion of the story is in one of the parts. End each part with the checks that the story has.
4. **ORDER** them; \`after\` has the numbers of the parts that must be done before.`,
    `## Your Answer
One JSON object of this shape: as structured data when you are given a tool for that, else as the last thing you say, in one \`\`\`json block.

\`\`\`json
{
  "parts": [
    { "title": "Store todos", "description": "…", "acceptanceCriteria": ["…"] },
    { "title": "List todos", "description": "…", "acceptanceCriteria": ["…"], "after": [1] }
  ]
}
\`\`\``,
  ].join('\n\n')}\n`;
}
