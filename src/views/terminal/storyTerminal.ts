import { EventEmitter, l10n, type Pseudoterminal, type TerminalDimensions } from 'vscode';
import { shorten, withoutControls } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { ofStory } from '../../orchestrator/journal/iterationEvents.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { runningIn, storyRecord } from '../../orchestrator/journal/runState.ts';
import { postRequest } from '../../orchestrator/workspace/request.ts';
import { Transcript } from '../../presentation/transcript.ts';
import { own, type Style, type TranscriptLine } from '../../presentation/transcriptLine.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { errorWords, translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import { leftOutLine } from './leftOutLine.ts';
import { TerminalScreen } from './terminalScreen.ts';

const CTRL_C = '\x03';
/** While the panel is being resized, its width changes continuously. */
const REDRAW_MS = 100;
/** Earlier runs that are shown, the newest ones that worked on the story. */
const MAX_EARLIER = 5;
/** In UTF-16 units. */
const MAX_ID = 60;

/**
 * Shows what agents have done for one story, in this run and in earlier ones, and continues with later ones. Like the
 * terminal of the run, it contains nothing of it.
 */
export class StoryTerminal implements Pseudoterminal {
  private readonly store = new DisposableStore();
  private readonly writeEmitter = this.store.add(new EventEmitter<string>());
  readonly onDidWrite = this.writeEmitter.event;
  readonly folder: Folder;
  readonly storyId: string;
  private readonly screen = new TerminalScreen(leftOutLine());
  private redrawing: NodeJS.Timeout | undefined;
  private transcript: Transcript;
  /** The run that it shows last. */
  runId: string | undefined;
  /** Number of its events that were read. */
  private read = 0;
  private hasLines = false;
  /** The iteration that the first Ctrl-C was about, and whether the second one has come. */
  private stop: { readonly iteration: number; readonly isAsked: boolean } | undefined;

  constructor(folder: Folder, storyId: string) {
    this.folder = folder;
    this.storyId = storyId;
    this.transcript = this.newTranscript();
  }

  async open(dimensions: TerminalDimensions | undefined): Promise<void> {
    this.screen.resize(dimensions?.columns);
    const { runs } = this.folder;
    try {
      await runs.refresh();
      await this.showEarlier();
    } catch (error) {
      this.say('error', errorWords(error));
    }
    this.store.add(runs.onDidReadEvents(() => this.showNew()));
    this.showNew();
    if (!this.hasLines) {
      this.say('plain', l10n.t('No iteration has worked on {0} yet.', this.name));
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

  close(): void {
    clearTimeout(this.redrawing);
    this.store.dispose();
  }

  /** Stops the agent of this story, in two steps. The run continues. */
  handleInput(data: string): void {
    if (!data.includes(CTRL_C)) {
      return;
    }
    const { files, runs } = this.folder;
    const { alive, runId, state } = runs.current;
    const current = runningIn(state, this.storyId);
    if (!alive || runId === undefined || current?.step !== 'agent' || current.queued) {
      this.say('plain', l10n.t('No agent works on {0} now, so there is none to stop.', this.name));
      return;
    }
    const { number } = current;
    if (this.stop?.iteration !== number) {
      this.stop = { iteration: number, isAsked: false };
      this.say(
        'warning',
        l10n.t(
          'Ctrl-C again stops the agent of {0}. What it has done is kept, and the run continues without this story.',
          this.name,
        ),
      );
    } else if (!this.stop.isAsked) {
      this.stop = { iteration: number, isAsked: true };
      try {
        postRequest(files, runId, { type: 'stop', mode: 'end', storyId: this.storyId });
        this.say(
          'warning',
          l10n.t(
            'Stopping the agent. To continue with {0}, choose "Continue This Story" in the list of stories.',
            this.name,
          ),
        );
      } catch (error) {
        this.say('error', errorWords(error));
      }
    }
  }

  /** Adds a line of the window itself. */
  say(style: Style, text: string): void {
    this.print([own(style, withoutControls(text))]);
  }

  private get name(): string {
    return shorten(withoutControls(this.storyId), MAX_ID);
  }

  private newTranscript(): Transcript {
    const isOfStory = ofStory(this.storyId);
    let isWorkedOn = false;
    return new Transcript(translate, 'window', {
      isOfOneStory: true,
      offersTools: true,
      isShown: event => {
        const isIts = isOfStory(event);
        isWorkedOn ||= isIts;
        // The end of the run says why there is no more of it.
        return isIts || (isWorkedOn && event.type === 'run.ended');
      },
    });
  }

  private async showEarlier(): Promise<void> {
    const { runs } = this.folder;
    const found = runs.states
      .slice(0, -1)
      .filter(state => storyRecord(state, this.storyId).iterations > 0)
      .flatMap(({ runId }) => runId ?? [])
      .slice(-MAX_EARLIER);
    for (const runId of found) {
      await this.showFromJournal(runId);
    }
    const { current, droppedUpTo } = runs;
    if (current.runId !== undefined && droppedUpTo > 0) {
      // The window does not keep all of it. What follows continues behind the events that were read.
      await this.showFromJournal(current.runId);
    }
  }

  private async showFromJournal(runId: string): Promise<void> {
    const journal = this.folder.files.journalFile(runId);
    this.begin(runId, await readDecisions(journal, ofStory(this.storyId)));
  }

  private showNew(): void {
    const { current, events } = this.folder.runs;
    const { runId } = current;
    if (runId === undefined) {
      return;
    }
    if (runId === this.runId) {
      this.show(events.filter(({ seq }) => seq > this.read));
    } else {
      this.begin(runId, events);
    }
  }

  /** Begins with another run. */
  private begin(runId: string, events: readonly RunEvent[]): void {
    this.runId = runId;
    this.read = 0;
    this.stop = undefined;
    this.transcript = this.newTranscript();
    this.show(events);
  }

  private show(events: readonly RunEvent[]): void {
    const lines: TranscriptLine[] = [];
    for (const event of events) {
      this.read = Math.max(this.read, event.seq);
      lines.push(...this.transcript.describe(event));
    }
    this.hasLines ||= lines.length > 0;
    this.print(lines);
  }

  private print(lines: readonly TranscriptLine[]): void {
    const output = this.screen.add(lines);
    if (output !== '') {
      this.writeEmitter.fire(output);
    }
  }
}
