import { l10n, type Terminal, window } from 'vscode';
import { hasPlace } from '../../orchestrator/journal/runState.ts';
import type { StoryPlace } from '../../orchestrator/places/placeChanges.ts';
import { PlaceFiles } from '../../orchestrator/places/placeFiles.ts';
import { Owner } from '../common/disposableStore.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { terminalFate } from './terminalFate.ts';

const MAX_NAME = 60;

/** What a terminal was opened for. */
interface Opened {
  readonly folder: Folder;
  readonly storyId: string;
  readonly place: Pick<StoryPlace, 'root' | 'runId'>;
}

/** The terminals that a person has opened in places. None is left open unnoticed where another story's agent works. */
export class PlaceTerminals extends Owner {
  private readonly opened = new Map<Terminal, Opened>();
  private readonly reportError: (error: Error) => void;

  constructor(folders: Folders, reportError: (error: Error) => void) {
    super();
    this.reportError = reportError;
    this.own(window.onDidCloseTerminal(terminal => this.opened.delete(terminal)));
    this.own(folders.inEach(folder => folder.runs.onDidChange(() => this.look(folder))));
  }

  open(folder: Folder, storyId: string, place: StoryPlace): void {
    const name = l10n.t('Place of {0}', plainLabel(storyId, MAX_NAME));
    // After a reload, the place may belong to another story.
    const terminal = window.createTerminal({ name, cwd: place.dir, isTransient: true });
    this.opened.set(terminal, { folder, storyId, place });
    terminal.show();
  }

  private look(folder: Folder): void {
    const { runId, state } = folder.runs.current;
    for (const [terminal, opened] of this.opened) {
      const { place, storyId } = opened;
      if (opened.folder === folder && !(runId === place.runId && hasPlace(state, storyId))) {
        this.decide(terminal, opened).catch(this.reportError);
      }
    }
  }

  private async decide(terminal: Terminal, { place, storyId }: Opened): Promise<void> {
    const record = await PlaceFiles.of(place.root).readRecord();
    // It may have been closed meanwhile, or a person has been asked.
    if (!this.opened.has(terminal)) {
      return;
    }
    switch (terminalFate({ record, storyId, isUsed: terminal.state.isInteractedWith })) {
      case 'stays':
        return;
      case 'closes':
        terminal.dispose();
        return;
      case 'asks':
        this.opened.delete(terminal);
        await ask(terminal, storyId, record?.story ?? '');
        return;
    }
  }
}

/** Something of the person's may run there. */
async function ask(terminal: Terminal, storyId: string, now: string): Promise<void> {
  const close = l10n.t('Close Terminal');
  const choice = await window.showWarningMessage(
    plainSentence(
      l10n.t(
        'The place of {0} belongs to {1} now, and your terminal there is still open. What you change in it counts as work on {1}.',
        plainLabel(storyId, MAX_NAME),
        plainLabel(now, MAX_NAME),
      ),
    ),
    close,
  );
  if (choice === close) {
    terminal.dispose();
  }
}
