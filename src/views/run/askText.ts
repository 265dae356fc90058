import { type InputBox, l10n, window } from 'vscode';
import { MAX_TEXT } from '../../orchestrator/workspace/request.ts';

/** Texts that were started and dismissed, by their purpose. */
const drafts = new Map<string, string>();
/** Above this number, the oldest is removed. */
const MAX_DRAFTS = 20;

export interface Question {
  readonly title: string;
  /** Below the input field; plain, see `plainLabel`. */
  readonly prompt: string;
  readonly placeholder?: string;
  /** Key of the draft; a text that was started for the same key is restored. */
  readonly draftOf: string;
  /** An empty text is valid, too. */
  readonly mayBeEmpty?: boolean;
  /** Which one of several it is, from 1. */
  readonly step?: number;
  readonly totalSteps?: number;
}

/**
 * Asks for one line of text. The input box stays open when it loses focus, and text that was typed before Escape is
 * restored the next time.
 * @returns `undefined` if the person canceled
 */
export async function askText({
  draftOf,
  mayBeEmpty = false,
  placeholder,
  prompt,
  step,
  title,
  totalSteps,
}: Question): Promise<string | undefined> {
  const box = window.createInputBox();
  box.title = title;
  box.prompt = prompt;
  box.placeholder = placeholder ?? '';
  box.step = step;
  box.totalSteps = totalSteps;
  box.ignoreFocusOut = true;
  box.value = drafts.get(draftOf) ?? '';
  try {
    const text = await answered(box, mayBeEmpty);
    drafts.delete(draftOf);
    if (text === undefined && box.value.trim() !== '') {
      keepDraft(draftOf, box.value);
    }
    return text;
  } finally {
    box.dispose();
  }
}

/** A text that could not be sent: it is in the box for this draft the next time, after what was begun there. */
export function keepText(draftOf: string, text: string): void {
  const begun = drafts.get(draftOf);
  // The box has one line.
  const line = text.replace(/\s*\n\s*/g, ' ');
  keepDraft(draftOf, begun === undefined ? line : `${begun} ${line}`);
}

/** Key of the draft of a hint. @param storyId absent for all later agents */
export function hintDraft(folder: string, storyId: string | undefined): string {
  return `hint\0${folder}\0${storyId ?? ''}`;
}

function keepDraft(draftOf: string, text: string): void {
  drafts.set(draftOf, text);
  const [oldest] = drafts.keys();
  if (drafts.size > MAX_DRAFTS && oldest !== undefined) {
    drafts.delete(oldest);
  }
}

function answered(box: InputBox, mayBeEmpty: boolean): Promise<string | undefined> {
  return new Promise(resolve => {
    box.onDidAccept(() => {
      const text = box.value.trim();
      const problem = text === '' && mayBeEmpty ? undefined : problemOf(text);
      if (problem === undefined) {
        resolve(text);
      }
      box.validationMessage = problem;
    });
    box.onDidChangeValue(text => {
      // An empty text is reported only when it is submitted.
      box.validationMessage = text.trim() === '' ? undefined : problemOf(text.trim());
    });
    box.onDidHide(() => resolve(undefined));
    box.show();
  });
}

function problemOf(text: string): string | undefined {
  if (text === '') {
    return l10n.t('Write something first, or press Escape.');
  }
  return text.length > MAX_TEXT
    ? l10n.t(
        'This has {0} characters, and agents get at most {1}. Write the long part to a file and name it here.',
        text.length,
        MAX_TEXT,
      )
    : undefined;
}
