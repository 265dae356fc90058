import { englishOf, sentences } from '../../base/say.ts';
import { unread } from '../../orchestrator/preconditions/unread.ts';
import { readStoryProblems } from '../../orchestrator/stories/diagnosis/readProblems.ts';
import { problemOfFile, problemWords } from '../../orchestrator/stories/storyFile.ts';
import { UNREAD_CODES } from '../../orchestrator/stories/unreadParts.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { nextData } from '../../presentation/storyListData.ts';
import { nextText } from '../../presentation/storyListText.ts';
import { alsoFound, startingFile } from '../storyFiles.ts';
import { whyNoStoryFile } from '../whyNoStoryFile.ts';
import type { DiagnosedWorkspace } from './diagnosedWorkspace.ts';
import { good, some, warn, wrong, wrongBy } from './findings.ts';

/** Whether there is a usable story file. */
export async function storiesCheck({
  files,
  github,
  only,
  storyFile: named,
}: DiagnosedWorkspace): Promise<readonly Finding[]> {
  if (github !== undefined && named === undefined) {
    return [good('stories', `The first run copies the issues of ${github}.`)];
  }
  let file: string | undefined;
  try {
    file = await startingFile(files, named);
  } catch (error) {
    return [wrongBy('stories', error)];
  }
  if (file === undefined) {
    const { choice, finished, found } = await whyNoStoryFile(files);
    if (finished !== undefined) {
      return [good('stories', sentences([found, choice]))];
    }
    return [
      choice === undefined
        ? wrong(
            'stories',
            'No story file was found.',
            'Let an agent plan the stories (ralph-fresh plan "your task" --write), write .omc/prd.json (docs/story-files.md), name yours with --file, or give "ralph-fresh run" a task.',
          )
        : wrong('stories', found, choice),
    ];
  }
  try {
    const { file: list, problems: found } = await readStoryProblems(file);
    const isToldElsewhere = list.kind === 'stories' && (only?.includes(unread.id) ?? true);
    const next = nextData(list);
    const isStuck = next.id === null && next.reason === 'waiting';
    // Hints are not worth a warning; "ralph-fresh stories" lists them.
    const problems = found
      .filter(({ severity }) => severity !== 'info')
      .filter(({ code }) => !(isToldElsewhere && UNREAD_CODES.has(code)))
      // If no story is ready, the reason names the first cycle.
      .filter(({ code }) => !(isStuck && code === 'circularDependency'))
      .map(problem => englishOf(problemWords(problem)));
    if (list.kind === 'invalid') {
      return [wrong('stories', problemOfFile(file, problems[0] ?? ''), null)];
    }
    const done = list.stories.filter(story => story.done).length;
    const facts = `${file}: ${done} of ${list.stories.length} stories complete`;
    if (list.stories.length === 0) {
      return [wrong('stories', `${file} contains no stories yet.`, 'Add at least one.')];
    }
    if (isStuck) {
      // A run would end before its first agent.
      return [
        wrong(
          'stories',
          `${facts}. ${some([nextText(next, list, named), ...problems], ' ')}`,
          null,
        ),
      ];
    }
    const { open, slips } = named === undefined ? await alsoFound(files, file) : { slips: [] };
    return [
      problems.length === 0
        ? good('stories', facts)
        : warn('stories', `${facts}. ${some(problems, ' ')}`, null),
      ...slips.map(slip => warn('stories', slip, null)),
      ...(open === undefined ? [] : [good('stories', open)]),
    ];
  } catch (error) {
    return [wrongBy('stories', error)];
  }
}
