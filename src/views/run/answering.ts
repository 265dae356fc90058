import { l10n, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import type { Question } from '../../orchestrator/journal/storyNotes.ts';
import { Command } from '../common/contributions.ts';
import { FixableError } from '../common/errors.ts';
import { plainLabel } from '../common/plainText.ts';
import type { StoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';
import { storyName } from '../folders/storyName.ts';
import { type AskedIn, openQuestion, questionsOf } from './alertOf.ts';
import { noteSeen, whileAnswering } from './answeringNow.ts';
import { askText, hintDraft, keepText } from './askText.ts';
import { idInRun, sendRequest } from './sendRequest.ts';

/** Maximum length of a question in the prompt of its input box, in UTF-16 units. */
const MAX_QUESTION = 600;

/** An answer that was typed elsewhere, and the question that it was typed for. */
export interface GivenAnswer extends AskedIn {
  readonly text: string;
  readonly storyId?: string | undefined;
}

/**
 * Sends an answer that was typed elsewhere.
 * @throws {FixableError} if its question is no longer open
 */
export function sendGiven(folder: Folder, given: GivenAnswer): Promise<void> {
  return whileAnswering(folder.path, () => send(folder, given));
}

/**
 * Asks the person what agents want to know, one question after the other until none is left or the person cancels, and
 * sends each answer.
 * @returns whether anything was answered
 * @throws {HumanError} if no question is open, or the one that was answered is not open any more
 */
export async function answerQuestions(
  folder: Folder,
  story: StoryRef | undefined,
): Promise<boolean> {
  await folder.runs.refresh();
  if (questionsOf(folder.runs.current.state).length === 0) {
    throw new HumanError(
      l10n.t('No agent has an open question. Use "Ralph: Hint for the Next Agent…" instead.'),
    );
  }
  const storyId = story && (await idInRun(folder, story));
  return whileAnswering(folder.path, () => answerEach(folder, storyId));
}

async function answerEach(folder: Folder, storyId: string | undefined): Promise<boolean> {
  let meant = storyId;
  for (let answered = 0; ; answered += 1) {
    // With lanes, another agent may have asked meanwhile, or somebody else may have answered.
    const { runId = '', state } = folder.runs.current;
    const questions = questionsOf(state);
    noteSeen(folder.path, questions);
    const question = await chooseQuestion(folder, questions, meant);
    if (question === undefined) {
      return answered > 0;
    }
    const steps = { step: answered + 1, totalSteps: answered + questions.length };
    const text = await askAnswer(folder, question, steps);
    if (text === undefined) {
      return answered > 0;
    }
    const { iteration, storyId: asking } = question;
    await send(folder, { runId, iteration, text, storyId: asking });
    meant = undefined;
  }
}

/**
 * Sends an answer to exactly the question that it was written for: somebody else may have answered it meanwhile, and
 * another agent may have asked.
 * @throws {FixableError} if that question is no longer open; the text can become a hint
 */
async function send(folder: Folder, answer: GivenAnswer): Promise<void> {
  const { path, runs } = folder;
  await runs.refresh();
  const question = openQuestion(runs.current, answer);
  if (question === undefined) {
    keepText(hintDraft(path, answer.storyId), answer.text);
    throw new FixableError(
      l10n.t(
        'This question is no longer open, so your answer was not sent. Your text is kept: you can give it as a hint.',
      ),
      l10n.t('Give a Hint…'),
      Command.giveHint,
      { folder: path, storyId: answer.storyId },
    );
  }
  noteSeen(path, [question]);
  await sendRequest(folder, { type: 'answer', text: answer.text, storyId: question.storyId });
}

/**
 * The open question of a story; otherwise the only one, or the one that the person chooses.
 * @returns `undefined` if there is none, or the person canceled
 */
async function chooseQuestion(
  folder: Folder,
  questions: readonly Question[],
  storyId: string | undefined,
): Promise<Question | undefined> {
  const meant = questions.find(question => question.storyId === storyId);
  if (meant !== undefined || questions.length < 2) {
    return meant ?? questions[0];
  }
  const items = questions.map(question => ({
    label: plainLabel(storyName(folder, question.storyId ?? ''), 80),
    detail: plainLabel(question.message, 200),
    question,
  }));
  const choice = await window.showQuickPick(items, {
    placeHolder: l10n.t('Answer which story?'),
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  return choice?.question;
}

function askAnswer(
  folder: Folder,
  { message, storyId }: Question,
  steps: { readonly step: number; readonly totalSteps: number },
): Promise<string | undefined> {
  const { path, runs } = folder;
  const { alive, state } = runs.current;
  return askText({
    title:
      storyId === undefined
        ? l10n.t('The agent asks')
        : l10n.t(
            'The agent of {0} asks',
            plainLabel(state.isolated ? storyName(folder, storyId) : storyId, 60),
          ),
    prompt: plainLabel(message, MAX_QUESTION),
    placeholder: alive
      ? l10n.t('Your answer; the next agent gets it with the question')
      : l10n.t('Your answer; the run continues, and its next agent gets it with the question'),
    draftOf: `answer\0${path}\0${message}`,
    ...(steps.totalSteps > 1 && steps),
  });
}
