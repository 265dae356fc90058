import { EventEmitter, l10n, type Pseudoterminal, type TerminalDimensions } from 'vscode';
import { shorten, withoutControls } from '../../base/text.ts';
import type { StopMode } from '../../orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { ofStoryOrRun } from '../../orchestrator/journal/iterationEvents.ts';
import { postRequest } from '../../orchestrator/workspace/request.ts';
import { Transcript } from '../../presentation/transcript.ts';
import { own, type Style, type TranscriptLine } from '../../presentation/transcriptLine.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { errorWords, translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import { leftOutLine } from './leftOutLine.ts';
import { TerminalScreen } from './terminalScreen.ts';

const CTRL_C = '\x03';
/** In UTF-16 units. */
const MAX_ID = 60;
/** While the panel is being resized, its width changes continuously. */
const REDRAW_MS = 100;
/** The request of each further Ctrl-C. */
const STOPS: readonly StopMode[] = ['afterIteration', 'end', 'kill'];

export interface RunTerminalOptions {
  readonly folder: Folder;
  /** What it is called in the list of terminals, without a story. */
  readonly title: string;
  /** Starts a run if none is running; only for a task that a person runs from the Tasks menu. */
  readonly start?: (() => Promise<void>) | undefined;
  /** Does not report the end to VS Code, which may close the terminal then. */
  readonly staysOpen: boolean;
  /** It is open in the window, and the terminals before it are known. Throws if it cannot be used after all. */
  readonly onOpened: () => void;
  /** A person closed it while its run was active. */
  readonly onClosed: () => void;
  /** Its title while it shows the lines of one story, or of all. */
  readonly nameFor: (story: string | undefined) => string;
  /** The story that the person wanted to see alone in this run, when the window was closed. */
  readonly onlyIn?: ((runId: string) => string | undefined) | undefined;
}

/**
 * Shows a run as it happens. It follows the journal and contains nothing of the run: closing it does not affect the
 * run.
 */
export class RunTerminal implements Pseudoterminal {
  private readonly store = new DisposableStore();
  private readonly writeEmitter = this.store.add(new EventEmitter<string>());
  readonly onDidWrite = this.writeEmitter.event;
  private readonly closeEmitter = this.store.add(new EventEmitter<number>());
  readonly onDidClose = this.closeEmitter.event;
  private readonly nameEmitter = this.store.add(new EventEmitter<string>());
  readonly onDidChangeName = this.nameEmitter.event;
  readonly folder: Folder;
  private readonly options: RunTerminalOptions;
  private readonly screen = new TerminalScreen(leftOutLine());
  private transcript = newTranscript(undefined);
  private redrawing: NodeJS.Timeout | undefined;
  readonly title: string;
  /** It is being opened or open, and its run has not ended. */
  following = true;
  /** The run that it shows. */
  runId: string | undefined;
  /** The only story whose lines are shown; `undefined`: all. */
  only: string | undefined;
  /** Number of events on the screen. */
  private shown = 0;
  /** Number of the last event that could not be shown again; 0: there is none, or the screen says so. */
  private missingUpTo = 0;
  /** Number of Ctrl-C presses since the run started or continued. */
  private interrupts = 0;
  private isLetGo = false;
  /** VS Code accepts no more output for it. */
  private isOver = false;

  constructor(options: RunTerminalOptions) {
    this.options = options;
    this.folder = options.folder;
    this.title = options.title;
  }

  /** It shows the folder's newest run from its start, and still follows it. */
  get isCurrent(): boolean {
    const { alive, runId } = this.folder.runs.current;
    return (
      this.following || (!this.isLetGo && !alive && runId !== undefined && runId === this.runId)
    );
  }

  async open(dimensions: TerminalDimensions | undefined): Promise<void> {
    this.screen.resize(dimensions?.columns);
    const { runs } = this.folder;
    try {
      this.options.onOpened();
      await runs.refresh();
      if (!runs.current.alive) {
        // Without `start`, this shows the newest run, which may already be over; it never starts one.
        await this.options.start?.();
      }
    } catch (error) {
      this.write('error', errorWords(error));
      this.end(1);
      return;
    }
    this.runId = runs.current.runId;
    if (this.runId === undefined) {
      this.end(0);
      return;
    }
    this.store.add(runs.onDidReadEvents(events => this.show(events)));
    this.store.add(
      runs.onDidChange(({ runId, alive, state }) => {
        // Once: a tick or a hint may be written to the journal of a killed run.
        if (this.following && runId === this.runId && !alive && state.phase !== 'ended') {
          this.write('warning', l10n.t('The loop was killed. Start a run to continue.'));
          this.end(1);
        }
      }),
    );
    this.showOnly(this.options.onlyIn?.(this.runId));
  }

  /** Whether what it shows can still change: VS Code accepts output for it. */
  get canChange(): boolean {
    return !this.isOver && this.runId !== undefined;
  }

  /** Shows the run again from its start, with the lines of one story, or of all. */
  showOnly(story: string | undefined): void {
    if (story !== this.only || story !== undefined) {
      this.nameEmitter.fire(this.options.nameFor(story));
    }
    this.only = story;
    this.transcript = newTranscript(story);
    if (this.shown > 0) {
      this.writeEmitter.fire(this.screen.clear());
    }
    this.shown = 0;
    if (story !== undefined) {
      const id = shorten(withoutControls(story), MAX_ID);
      this.say(
        'heading',
        l10n.t('Only the lines of {0}, and of the run as a whole, are shown here.', id),
      );
      this.say('dim', l10n.t('For the others: Ralph: Show Only One Story in the Terminal…'));
    }
    const { droppedUpTo, events } = this.folder.runs;
    this.missingUpTo = droppedUpTo;
    this.show(events);
  }

  /** Adds a line of the window itself. */
  say(style: Style, text: string): void {
    if (this.canChange) {
      this.print([own(style, withoutControls(text))]);
    }
  }

  setDimensions({ columns }: TerminalDimensions): void {
    if (this.screen.resize(columns)) {
      this.redrawing ??= setTimeout(() => {
        this.redrawing = undefined;
        this.writeEmitter.fire(this.screen.redraw());
      }, REDRAW_MS);
    }
  }

  /** The person closed it, or the run is over. */
  close(): void {
    const { alive, runId } = this.folder.runs.current;
    const isMissed = this.following && !this.isLetGo && alive && runId === this.runId;
    this.letGo();
    clearTimeout(this.redrawing);
    this.store.dispose();
    if (isMissed) {
      this.options.onClosed();
    }
  }

  /** The window itself closes it, or another one replaces it. */
  letGo(): void {
    this.following = false;
    this.isLetGo = true;
  }

  handleInput(data: string): void {
    if (!data.includes(CTRL_C)) {
      return;
    }
    const { files, runs } = this.folder;
    const { alive, runId, state } = runs.current;
    if (!this.following || !alive || runId === undefined || runId !== this.runId) {
      return;
    }
    // A stop may have been requested elsewhere, and the journal may lag behind the keys pressed here.
    const asked = state.stopMode === undefined ? 0 : STOPS.indexOf(state.stopMode) + 1;
    const next = Math.max(asked, this.interrupts);
    const mode = STOPS[Math.min(next, STOPS.length - 1)] ?? 'kill';
    this.interrupts = next + 1;
    try {
      postRequest(files, runId, { type: 'stop', mode });
    } catch (error) {
      this.write('error', errorWords(error));
    }
  }

  private show(events: readonly RunEvent[]): void {
    const { runs } = this.folder;
    const lines: TranscriptLine[] = [];
    let end: number | undefined;
    for (const event of events) {
      if (runs.current.runId !== this.runId || event.seq <= this.shown) {
        continue;
      }
      this.shown = event.seq;
      if (this.isOver) {
        // The run continued elsewhere, and this terminal contains only the part before.
        this.letGo();
      }
      if (this.missingUpTo > 0 && event.seq > this.missingUpTo) {
        lines.push(leftOutLine());
        this.missingUpTo = 0;
      }
      lines.push(...this.transcript.describe(event));
      if (event.type === 'run.started' || event.type === 'run.resumed') {
        this.interrupts = 0;
      }
      // A run that has ended may continue later; then this was not its end.
      if (event.type === 'run.ended' && runs.current.state.phase === 'ended') {
        // A non-zero code is shown as a warning, which an unfinished list of stories does not deserve.
        end = event.outcome === 'error' ? 1 : 0;
      }
    }
    this.print(lines);
    if (end !== undefined) {
      this.end(end);
    }
  }

  private end(code: number): void {
    this.following = false;
    if (!this.options.staysOpen) {
      this.isOver = true;
      this.closeEmitter.fire(code);
    }
  }

  private write(style: Style, text: string): void {
    this.print([{ style, text: withoutControls(text) }]);
  }

  private print(lines: readonly TranscriptLine[]): void {
    const output = this.screen.add(lines);
    if (output !== '') {
      this.writeEmitter.fire(output);
    }
  }
}

function newTranscript(story: string | undefined): Transcript {
  const isShown = story === undefined ? undefined : ofStoryOrRun(story);
  return new Transcript(translate, 'window', { offersTools: true, ...(isShown && { isShown }) });
}
