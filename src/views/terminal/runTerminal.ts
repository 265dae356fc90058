import { EventEmitter, l10n, type Pseudoterminal } from 'vscode';
import type { RunEvent } from '../../orchestrator/run/events.ts';
import { postRequest } from '../../orchestrator/run/inbox.ts';
import { withoutControls } from '../../orchestrator/text.ts';
import { type Style, Transcript } from '../../presentation/transcript.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { ActiveRun } from '../folders/activeRun.ts';

const CTRL_C = '\x03';
const RESET = '\x1b[0m';
/** The terminal's own palette, so that every theme decides what they look like. */
const SGR: Readonly<Record<Style, string>> = {
  plain: '',
  heading: '\x1b[1m',
  dim: '\x1b[2m',
  tool: '\x1b[36m',
  success: '\x1b[32m',
  warning: '\x1b[33m',
  error: '\x1b[31m',
};

/**
 * Shows a run as it happens. It follows the journal and contains nothing of the run: closing it leaves the
 * run alone.
 */
export class RunTerminal implements Pseudoterminal {
  private readonly store = new DisposableStore();
  private readonly writeEmitter = this.store.add(new EventEmitter<string>());
  readonly onDidWrite = this.writeEmitter.event;
  private readonly closeEmitter = this.store.add(new EventEmitter<number>());
  readonly onDidClose = this.closeEmitter.event;
  private readonly model: ActiveRun;
  private readonly start: (() => Promise<void>) | undefined;
  private readonly staysOpen: boolean;
  /** It is made or open, and the run it shows has not ended. */
  following = true;
  /** Events up to here are on the screen. */
  private shown = 0;
  private runId: string | undefined;
  private readonly transcript = new Transcript(l10n.t, 'window');

  /**
   * @param start starts a run when none is going on; only for a task that a person runs from the Tasks menu
   * @param staysOpen does not tell VS Code of the end, which then may close the terminal
   */
  constructor(model: ActiveRun, start: (() => Promise<void>) | undefined, staysOpen: boolean) {
    this.model = model;
    this.start = start;
    this.staysOpen = staysOpen;
  }

  async open(): Promise<void> {
    try {
      await this.model.refresh();
      if (!this.model.current.alive) {
        // Without `start` this shows the newest run, which may be over already; it never starts one.
        await this.start?.();
      }
    } catch (error) {
      this.write('error', error instanceof Error ? error.message : String(error));
      this.end(1);
      return;
    }
    this.runId = this.model.current.runId;
    this.store.add(this.model.onDidReadEvents(events => this.show(events)));
    this.store.add(
      this.model.onDidChange(({ runId, alive, state }) => {
        if (runId === this.runId && !alive && state.phase !== 'ended') {
          this.write('warning', l10n.t('The loop was killed. Start a run to go on.'));
          this.end(1);
        }
      }),
    );
    this.show(this.model.events);
  }

  /** The user closed it, or the run is over. */
  close(): void {
    this.following = false;
    this.store.dispose();
  }

  handleInput(data: string): void {
    const { files, current } = this.model;
    if (data === CTRL_C && files && current.alive && current.runId !== undefined) {
      // A second Ctrl-C is for an agent that does not end by itself.
      const mode = current.state.phase === 'stopping' ? 'kill' : 'end';
      postRequest(files, current.runId, { type: 'stop', mode }).catch((error: unknown) =>
        this.write('error', String(error)),
      );
    }
  }

  private show(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (this.model.current.runId !== this.runId || event.seq <= this.shown) {
        continue;
      }
      this.shown = event.seq;
      for (const { style, text } of this.transcript.describe(event)) {
        this.write(style, text);
      }
      // A run that has ended may go on later; then this was not its end.
      if (event.type === 'run.ended' && this.model.current.state.phase === 'ended') {
        // A non-zero code is shown as a warning, which an unfinished list of stories is not.
        this.end(event.outcome === 'error' ? 1 : 0);
      }
    }
  }

  private end(code: number): void {
    this.following = false;
    if (!this.staysOpen) {
      this.closeEmitter.fire(code);
    }
  }

  private write(style: Style, text: string): void {
    const sgr = SGR[style];
    for (const line of withoutControls(text).split('\n')) {
      this.writeEmitter.fire(`${sgr}${line}${sgr === '' ? '' : RESET}\r\n`);
    }
  }
}
