import { type LogOutputChannel, l10n, type Memento, window } from 'vscode';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { plainSentence } from '../common/plainText.ts';
import { remember } from '../common/remember.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { alertsOf, asKnownNow, isPast, type RunAlert } from '../run/alertOf.ts';
import { type Answered, isAnswering } from '../run/answeringNow.ts';
import { alertMessages, type Button, type Message } from './alertMessages.ts';

/** Alerts that were already shown, per workspace: run and cause. */
const TOLD_KEY = 'alerts.told';
/** Runs that a window of this workspace has seen running. */
const SEEN_KEY = 'alerts.seen';
/** Key of the person's "don't show again", for all windows. */
const QUIET_KEY = 'alerts.doneQuietly';
/** Maximum number of entries kept for each. */
const MAX_KEPT = 200;

/** What alerts are told; see {@link runAlerts}. */
export type RunAlerts = ReturnType<typeof runAlerts>;

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
) {
  const { messageOf, pastWords } = alertMessages(folders, () => person.update(QUIET_KEY, true));
  /** Questions whose alert is shown. */
  const asked = new Map<Folder, { readonly runId: string; readonly alerts: readonly RunAlert[] }>();

  /** A run of a folder has changed. */
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
      .filter(({ kind }) => kind !== 'question')
      .filter(alert => isNew(TOLD_KEY, entryOf(folder, runId, alert)))
      .filter(alert => !isGoodNews(alert) || person.get<unknown>(QUIET_KEY) !== true);
    await Promise.all([
      ...news.map(alert =>
        show(messageOf([alert], folder, run.state), past([alert], folder, runId)),
      ),
      ask(folder),
    ]);
  }

  /**
   * Tells of the questions that nobody has been told of, as one alert. Those that come while it is shown, or while the
   * person is answering, are told afterwards, if they are still open then: answering one leads to the next.
   */
  async function ask(folder: Folder): Promise<void> {
    const { runs } = folder;
    const { runId = '', state } = runs.current;
    const open = asked.get(folder);
    const isShown =
      open?.runId === runId && open.alerts.some(alert => !isPast(alert, runs.current, runId));
    if (isShown || isAnswering(folder.path)) {
      return;
    }
    const alerts = alertsOf(runs.current)
      .filter(({ kind }) => kind === 'question')
      .filter(alert => isNew(TOLD_KEY, entryOf(folder, runId, alert)));
    if (alerts.length === 0) {
      return;
    }
    const mine = { runId, alerts };
    asked.set(folder, mine);
    await show(messageOf(alerts, folder, state), past(alerts, folder, runId));
    if (asked.get(folder) === mine) {
      asked.delete(folder);
      await ask(folder);
    }
  }

  /** What the person has seen while they answered is told already. */
  async function askTheRest({ folder: folderPath, seen }: Answered): Promise<void> {
    const folder = folders.at(folderPath);
    if (folder === undefined) {
      return;
    }
    const { current } = folder.runs;
    for (const alert of alertsOf(current)) {
      if (alert.kind === 'question' && seen.has(alert.iteration)) {
        isNew(TOLD_KEY, entryOf(folder, current.runId ?? '', alert));
      }
    }
    await look(folder, current);
  }

  const past =
    (alerts: readonly RunAlert[], folder: Folder, runId: string) =>
    ({ isFor }: Button): string | undefined => {
      if (isFor === 'always') {
        return undefined;
      }
      const { runs } = folders.at(folder.path) ?? {};
      if (runs === undefined) {
        return l10n.t('That folder is not in this window any more. Add it again, then try again.');
      }
      if (isFor !== undefined && runs.current.runId !== runId) {
        return l10n.t('That run is over. Nothing was done.');
      }
      if (isFor === 'run') {
        return undefined;
      }
      const now = alerts.flatMap(alert => asKnownNow(alert, runs.events) ?? []);
      const isOver = now.every(alert => isFor !== 'story' && isPast(alert, runs.current, runId));
      return isOver ? pastWords(alerts) : undefined;
    };

  /** @param past called when a button is pressed; returns a message if nothing is left to do */
  async function show(
    { buttons, severity, text }: Message,
    past: (button: Button) => string | undefined,
  ): Promise<void> {
    const labels = buttons.map(({ label }) => label);
    const choice = await (severity === 'information'
      ? window.showInformationMessage(text, ...labels)
      : severity === 'warning'
        ? window.showWarningMessage(text, ...labels)
        : window.showErrorMessage(text, ...labels));
    const button = buttons.find(({ label }) => label === choice);
    const words = button && past(button);
    if (button !== undefined && words !== undefined) {
      void window.showInformationMessage(plainSentence(words));
      return;
    }
    await button?.run();
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

  return { look, askTheRest };
}

function isGoodNews(alert: RunAlert): boolean {
  return alert.kind === 'ended' && alert.outcome === 'completed' && !alert.lacks;
}

function entryOf(folder: Folder, runId: string, alert: RunAlert): string {
  return `${folder.path} ${runId} ${alert.cause}`;
}
