import { commands, type LogOutputChannel, l10n, type Memento, window } from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import type { Disposable } from '../../base/emitter.ts';
import { sentence, shorten } from '../../base/text.ts';
import { lastErrorOf, type RunState } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { outcomeSentence, runEnd } from '../../presentation/sentences.ts';
import { iterationCount } from '../../presentation/translate.ts';
import { heldSentence } from '../../presentation/workWords.ts';
import { Command, View } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { remember } from '../common/remember.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { alertsOf, isPast, type RunAlert } from '../run/alertOf.ts';
import { answerLabel, limitSetting } from '../run/fittingActions.ts';
import { openRunSetting } from '../settings/openSettings.ts';

/** Alerts that were already shown, per workspace: run and cause. */
const TOLD_KEY = 'alerts.told';
/** Runs that a window of this workspace has seen running. */
const SEEN_KEY = 'alerts.seen';
/** Key of the person's "don't show again", for all windows. */
const QUIET_KEY = 'alerts.doneQuietly';
/** Maximum number of entries kept for each. */
const MAX_KEPT = 200;
/** VS Code's own view, whichever extension provides it. */
const SOURCE_CONTROL = 'workbench.view.scm';
/** Maximum length of an agent's text in a message, in UTF-16 units. */
const MAX_WORDS = 300;

type Severity = 'information' | 'warning' | 'error';

interface Button {
  readonly label: string;
  readonly run: () => PromiseLike<unknown>;
  /** Applies whatever the state of the run. */
  readonly isAlways?: boolean;
}

interface Message {
  readonly severity: Severity;
  readonly text: string;
  readonly buttons: readonly Button[];
}

/**
 * Notifies a person, once, when a run needs them or has ended: in every folder of the window, for runs that a window
 * of this workspace has seen running, even before a reload.
 * @param workspace stores which alerts were shown
 * @param person stores which alerts the person does not want to see
 */
export function runAlerts(
  folders: Folders,
  workspace: Memento,
  person: Memento,
  log: LogOutputChannel,
): Disposable {
  async function look(folder: Folder, run: WatchedRun): Promise<void> {
    const { alive, runId } = run;
    if (runId === undefined) {
      return;
    }
    if (alive) {
      isNew(SEEN_KEY, `${folder.path} ${runId}`);
    }
    if (!entriesOf(SEEN_KEY).includes(`${folder.path} ${runId}`)) {
      return;
    }
    const news = alertsOf(run)
      .filter(alert => isNew(TOLD_KEY, `${folder.path} ${runId} ${alert.cause}`))
      .filter(alert => !isGoodNews(alert) || person.get<unknown>(QUIET_KEY) !== true);
    await Promise.all(
      news.map(alert =>
        show(message(alert, folder, run.state), () =>
          isPast(alert, folder.runs.current, runId) ? pastWords(alert) : undefined,
        ),
      ),
    );
  }

  /** @param past called when a button is pressed; returns a message if nothing is left to do */
  async function show(
    { buttons, severity, text }: Message,
    past: () => string | undefined,
  ): Promise<void> {
    const labels = buttons.map(({ label }) => label);
    const choice = await (severity === 'information'
      ? window.showInformationMessage(text, ...labels)
      : severity === 'warning'
        ? window.showWarningMessage(text, ...labels)
        : window.showErrorMessage(text, ...labels));
    const button = buttons.find(({ label }) => label === choice);
    const words = button?.isAlways ? undefined : past();
    if (button !== undefined && words !== undefined) {
      void window.showInformationMessage(plainSentence(words));
      return;
    }
    await button?.run();
  }

  function message(alert: RunAlert, folder: Folder, state: RunState): Message {
    const { buttons, severity, text } = words(alert, folder, state);
    const named = folders.all.length > 1 ? `${folder.name}: ${text}` : text;
    return { buttons, severity, text: plainSentence(named) };
  }

  function words(alert: RunAlert, folder: Folder, state: RunState): Message {
    const { path, runs } = folder;
    const here = { folder: path, runId: runs.current.runId ?? '' };
    const button = (label: string, command: string, argument: object = here) => ({
      label,
      run: () => commands.executeCommand(command, argument),
    });
    const transcript = (iteration: number) => ({
      ...button(l10n.t('Transcript'), Command.openTranscript, { ...here, iteration }),
      isAlways: true,
    });
    // Without an active run, the command itself says so.
    const stop = { ...button(l10n.t('Stop'), Command.stopRun), isAlways: true };
    switch (alert.kind) {
      case 'stuck': {
        const { iteration, storyId } = alert;
        const at = storyId === undefined ? { folder: path } : { folder: path, storyId };
        return {
          severity: 'warning',
          text: stuckWords(alert),
          buttons: [
            button(l10n.t('Hint…'), Command.giveHint, at),
            ...(storyId === undefined
              ? []
              : [
                  button(l10n.t('Skip'), Command.skipStory, at),
                  button(l10n.t('Split…'), Command.splitStory, at),
                ]),
            transcript(iteration),
            stop,
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
              : l10n.t('The agent of {0} asks: {1}', shorten(storyId, 60), words),
          buttons: [
            button(answerLabel(ended, translate), Command.answerQuestion, { ...here, storyId }),
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
        const { text, ...words } = endWords(alert.outcome, state, here, button);
        const held = heldSentence(state, false, translate);
        return { ...words, text: held === undefined ? text : `${sentence(text)} ${held}` };
      }
      default:
        return assertNever(alert);
    }
  }

  function endWords(
    outcome: Extract<RunAlert, { kind: 'ended' }>['outcome'],
    state: RunState,
    here: object,
    button: (label: string, command: string, argument?: object) => Button,
  ): Message {
    const text = outcomeSentence(runEnd(state, outcome), translate, 'window').text;
    const review =
      state.commits.length > 0 ? [button(l10n.t('Review Changes'), Command.openRunChanges)] : [];
    const stories = button(l10n.t('Show Stories'), `${View.stories}.focus`);
    const again = button(l10n.t('Start Again'), Command.startRun);
    switch (outcome) {
      case 'completed':
        return {
          severity: 'information',
          text: doneWords(state),
          buttons: [
            ...review,
            stories,
            {
              label: l10n.t("Don't Show Again"),
              run: () => person.update(QUIET_KEY, true),
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
                button(l10n.t('Split…'), Command.splitStory, { ...here, storyId: at }),
                button(l10n.t('Hint…'), Command.giveHint, { ...here, storyId: at }),
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
          buttons: [button(l10n.t('Show Progress'), Command.showProgress), again],
        };
      default:
        return assertNever(outcome);
    }
  }

  /** Stores an entry. @returns whether it is new */
  function isNew(key: string, entry: string): boolean {
    const kept = entriesOf(key);
    if (kept.includes(entry)) {
      return false;
    }
    remember(workspace, key, [...kept, entry].slice(-MAX_KEPT), error => log.error(error));
    return true;
  }

  function entriesOf(key: string): readonly unknown[] {
    const kept = workspace.get<unknown>(key);
    return Array.isArray(kept) ? kept : [];
  }

  return folders.inEach(folder =>
    folder.runs.onDidChange(run => void reportingErrors(log, () => look(folder, run))),
  );
}

function isGoodNews(alert: RunAlert): boolean {
  return alert.kind === 'ended' && alert.outcome === 'completed';
}

function stuckWords({ iterations, storyId, waits }: Extract<RunAlert, { kind: 'stuck' }>): string {
  const what = storyId === undefined ? l10n.t('The task') : shorten(storyId, 60);
  const howLong = iterationCount(iterations, translate);
  return waits
    ? l10n.t('{0} has made no progress for {1}. The run waits for you.', what, howLong)
    : l10n.t('{0} has made no progress for {1}. Its next agent is warned.', what, howLong);
}

function pastWords(alert: RunAlert): string {
  if (alert.kind === 'held') {
    return l10n.t('The branch has everything that has landed. Nothing was done.');
  }
  return alert.kind === 'stuck' && alert.storyId !== undefined
    ? l10n.t('{0} is no longer stuck. Nothing was done.', shorten(alert.storyId, 60))
    : alert.kind === 'question'
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
