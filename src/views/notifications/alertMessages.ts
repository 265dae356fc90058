import { commands, l10n } from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import { sentence, shorten } from '../../base/text.ts';
import { lastErrorOf, type RunState } from '../../orchestrator/journal/runState.ts';
import { heldSentence } from '../../presentation/heldWords.ts';
import { runEnd } from '../../presentation/runEnd.ts';
import { leftToDo, outcomeSentence } from '../../presentation/sentences.ts';
import { iterationCount } from '../../presentation/translate.ts';
import { Command, View } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { storyName } from '../folders/storyName.ts';
import { asKnownNow, type RunAlert } from '../run/alertOf.ts';
import { answerLabel, limitSetting } from '../run/fittingActions.ts';
import { openRunSetting } from '../settings/openSettings.ts';

/** VS Code's own view, whichever extension provides it. */
const SOURCE_CONTROL = 'workbench.view.scm';
/** Maximum length of an agent's text in a message, in UTF-16 units. */
const MAX_WORDS = 300;

type Severity = 'information' | 'warning' | 'error';

/** A button of a notification. */
export interface Button {
  readonly label: string;
  readonly run: () => PromiseLike<unknown>;
  /**
   * It applies as long as the run is the same, or also has the story, or always; otherwise as long as the cause of the
   * alert is there.
   */
  readonly isFor?: 'run' | 'story' | 'always';
}

/** What a notification says and offers. */
export interface Message {
  readonly severity: Severity;
  readonly text: string;
  readonly buttons: readonly Button[];
}

/**
 * The words and buttons of alerts.
 * @param beQuiet called when the person does not want to hear of good news any more
 */
export function alertMessages(folders: Folders, beQuiet: () => PromiseLike<unknown>) {
  /** @param alerts one, or the questions of several agents */
  function messageOf(alerts: readonly RunAlert[], folder: Folder, state: RunState): Message {
    const [alert, ...others] = alerts;
    const { buttons, severity, text } =
      alert === undefined || others.length > 0
        ? questionWords(alerts, folder)
        : words(alert, folder, state);
    const named = folders.all.length > 1 ? `${folder.name}: ${text}` : text;
    return { buttons, severity, text: plainSentence(named) };
  }

  /** Several agents ask; the person chooses whom to answer first. */
  function questionWords(alerts: readonly RunAlert[], folder: Folder): Message {
    const { path, runs } = folder;
    const here = { folder: path, runId: runs.current.runId ?? '' };
    const names = alerts.flatMap(alert =>
      alert.kind === 'question' ? [shorten(storyName(folder, alert.storyId ?? ''), 60)] : [],
    );
    const hasEnded = !runs.current.alive;
    return {
      severity: 'error',
      text: l10n.t(
        '{0} agents have a question: {1}',
        names.length,
        shorten(names.join(', '), MAX_WORDS),
      ),
      buttons: [
        {
          label: answerLabel(hasEnded, translate),
          run: () => commands.executeCommand(Command.answerQuestion, here),
        },
      ],
    };
  }

  function words(alert: RunAlert, folder: Folder, state: RunState): Message {
    const { path, runs } = folder;
    // With lanes, the id alone does not say which of them it is.
    const nameOf = (storyId: string) =>
      state.isolated ? shorten(storyName(folder, storyId), 80) : shorten(storyId, 60);
    const here = { folder: path, runId: runs.current.runId ?? '' };
    const button = (label: string, command: string, argument: object = here) => ({
      label,
      run: () => commands.executeCommand(command, argument),
    });
    /** For the story, by its id at the time of the press. */
    const ofStory = (label: string, command: string) => ({
      label,
      run: () => {
        const now = asKnownNow(alert, runs.events);
        const storyId = now && 'storyId' in now ? now.storyId : undefined;
        return commands.executeCommand(command, { ...here, ...(storyId && { storyId }) });
      },
    });
    const transcript = (iteration: number) => ({
      ...button(l10n.t('Transcript'), Command.openTranscript, { ...here, iteration }),
      isFor: 'always' as const,
    });
    // If the run has ended, the command itself says so.
    const stop = { ...button(l10n.t('Stop'), Command.stopRun), isFor: 'run' as const };
    switch (alert.kind) {
      case 'stuck': {
        const { iteration, storyId } = alert;
        return {
          severity: 'warning',
          text: stuckWords(alert, storyId === undefined ? l10n.t('The task') : nameOf(storyId)),
          buttons: [
            ofStory(l10n.t('Hint…'), Command.giveHint),
            ...(storyId === undefined
              ? []
              : [
                  ofStory(l10n.t('Skip'), Command.skipStory),
                  ofStory(l10n.t('Split…'), Command.splitStory),
                ]),
            transcript(iteration),
            // With lanes, the others make progress; a run that waits has no others.
            storyId === undefined || alert.waits || state.isolated !== true
              ? stop
              : {
                  ...ofStory(l10n.t('Stop This Story'), Command.stopStory),
                  isFor: 'story' as const,
                },
          ],
        };
      }
      case 'question': {
        const { ended, iteration, message, storyId } = alert;
        const words = shorten(message, MAX_WORDS);
        return {
          severity: 'error',
          text:
            storyId === undefined
              ? l10n.t('The agent asks: {0}', words)
              : l10n.t('The agent of {0} asks: {1}', nameOf(storyId), words),
          buttons: [
            ofStory(answerLabel(ended, translate), Command.answerQuestion),
            transcript(iteration),
            ...(ended || alert.othersWork ? [] : [stop]),
          ],
        };
      }
      case 'held':
        return {
          severity: 'warning',
          text: heldSentence(state, true, translate) ?? '',
          // Where files are committed, stashed and merged.
          buttons: [button(l10n.t('Source Control'), SOURCE_CONTROL)],
        };
      case 'ended': {
        const { text, ...words } = endWords(alert, state, here, button);
        const left = leftToDo(state, false, translate);
        return {
          ...words,
          text: left.length === 0 ? text : [sentence(text), ...left].join(' '),
        };
      }
      default:
        return assertNever(alert);
    }
  }

  function endWords(
    { lacks, outcome }: Extract<RunAlert, { kind: 'ended' }>,
    state: RunState,
    here: object,
    button: (label: string, command: string, argument?: object) => Button,
  ): Message {
    const end = { ...runEnd(state, outcome), uncommitted: undefined };
    const { text } = outcomeSentence(end, translate, 'window');
    const always = (label: string, command: string, argument?: object) => ({
      ...button(label, command, argument),
      isFor: 'always' as const,
    });
    const review =
      state.commits.length > 0 ? [always(l10n.t('Review Changes'), Command.openRunChanges)] : [];
    const stories = always(l10n.t('Show Stories'), `${View.stories}.focus`);
    // Another run may be active by now.
    const again = button(l10n.t('Start Again'), Command.startRun);
    switch (outcome) {
      case 'completed':
        if (lacks) {
          const fix = always(l10n.t('Source Control'), SOURCE_CONTROL);
          return {
            severity: 'warning',
            text: doneWords(state),
            buttons: [fix, ...review, stories],
          };
        }
        return {
          severity: 'information',
          text: doneWords(state),
          buttons: [
            ...review,
            stories,
            {
              label: l10n.t("Don't Show Again"),
              run: beQuiet,
              isFor: 'always',
            },
          ],
        };
      case 'maxIterations':
      case 'budget':
        return {
          severity: 'warning',
          text,
          buttons: [
            ...review,
            {
              label: l10n.t('Open Settings'),
              run: () => openRunSetting(limitSetting(state)),
              isFor: 'always',
            },
            again,
          ],
        };
      case 'stuck': {
        // The message advises making the story smaller or clearer.
        const at = state.lastIteration?.storyId;
        const buttons =
          at === undefined
            ? [...review]
            : [
                always(l10n.t('Split…'), Command.splitStory, { ...here, storyId: at }),
                always(l10n.t('Hint…'), Command.giveHint, { ...here, storyId: at }),
              ];
        return { severity: 'warning', text, buttons: [...buttons, stories, again] };
      }
      case 'noReadyStory':
        return { severity: 'warning', text, buttons: [stories, ...review, again] };
      case 'interrupted':
        return { severity: 'warning', text, buttons: [again, stories] };
      case 'needsHuman':
      case 'error':
        return {
          severity: 'error',
          text: [sentence(text), nextStep(state)].filter(Boolean).join(' '),
          buttons: [always(l10n.t('Show Progress'), Command.showProgress), again],
        };
      default:
        return assertNever(outcome);
    }
  }

  return { messageOf, pastWords };
}

function stuckWords(
  { iterations, waits }: Extract<RunAlert, { kind: 'stuck' }>,
  what: string,
): string {
  const howLong = iterationCount(iterations, translate);
  return waits
    ? l10n.t('{0} has made no progress for {1}. The run waits for you.', what, howLong)
    : l10n.t('{0} has made no progress for {1}. Its next agent is warned.', what, howLong);
}

/** That there is nothing left to do about alerts. */
function pastWords([alert, ...others]: readonly RunAlert[]): string {
  if (others.length > 0) {
    return l10n.t('These questions are no longer open. Nothing was done.');
  }
  if (alert?.kind === 'ended') {
    return l10n.t('A run is active again. Nothing was done.');
  }
  if (alert?.kind === 'held') {
    return l10n.t('The branch has everything that has landed. Nothing was done.');
  }
  return alert?.kind === 'stuck' && alert.storyId !== undefined
    ? l10n.t('{0} is no longer stuck. Nothing was done.', shorten(alert.storyId, 60))
    : alert?.kind === 'question'
      ? l10n.t('This question is no longer open. Nothing was done.')
      : l10n.t('The run is no longer stuck. Nothing was done.');
}

function doneWords({ onlyStories, stories }: RunState): string {
  return onlyStories === undefined
    ? l10n.t('Ralph is done: {0} of {1} stories.', stories.done, stories.total)
    : l10n.t('Ralph is done with {0}.', shorten(onlyStories.join(', '), 100));
}

/** How to fix it, if the agent's own message does not say so. */
function nextStep(state: RunState): string {
  return lastErrorOf(state)?.kind === 'notStarted'
    ? l10n.t('Look for Claude Code with "Ralph: Find Claude Code", then start again.')
    : '';
}
