import { l10n, type QuickPickItem, type Terminal, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { titleNextTo } from '../../base/storyTitle.ts';
import { Owner } from '../common/disposableStore.ts';
import { plainLabel } from '../common/plainText.ts';
import type { Folder } from '../folders/folder.ts';
import { StoryTerminal } from './storyTerminal.ts';

const MAX_NAME = 60;
const MAX_TITLE = 150;

/** The terminals of single stories, opened on demand. They close with the window. */
export class StoryTerminals extends Owner {
  private readonly open = new Map<Terminal, StoryTerminal>();

  constructor() {
    super();
    this.own(window.onDidCloseTerminal(terminal => this.open.delete(terminal)));
  }

  /** What a terminal shows, if it is one of them. */
  find(terminal: Terminal): StoryTerminal | undefined {
    return this.open.get(terminal);
  }

  of(folder: Folder): readonly StoryTerminal[] {
    return [...this.open.values()].filter(shown => shown.folder === folder);
  }

  /** Closes those of folders that are not in the window any more. */
  closeRemoved(folders: readonly Folder[]): void {
    for (const [terminal, { folder }] of this.open) {
      if (!folders.includes(folder)) {
        terminal.dispose();
      }
    }
  }

  /** Reveals the terminal of a story, or opens one. @param isSeveral the window has several folders */
  show(folder: Folder, storyId: string, isSeveral: boolean): void {
    for (const [terminal, shown] of this.open) {
      if (shown.folder === folder && shown.storyId === storyId) {
        terminal.show();
        return;
      }
    }
    const pty = new StoryTerminal(folder, storyId);
    const story = plainLabel(storyId, MAX_NAME);
    const terminal = window.createTerminal({
      // The list of terminals is narrow, and shows how a name begins.
      name: isSeveral
        ? l10n.t('{0} · Ralph ({1})', story, plainLabel(folder.name, MAX_NAME))
        : l10n.t('{0} · Ralph', story),
      pty,
      isTransient: true,
    });
    this.open.set(terminal, pty);
    terminal.show();
  }
}

/**
 * Asks which of the newest run's stories is meant.
 * @param shown the story that is shown alone now; `undefined`: all
 * @param all whether all of them can be chosen, too
 * @returns `undefined` if the person canceled; without `storyId`: all
 */
export async function pickRunStory(
  folder: Folder,
  placeHolder: string,
  { all, shown }: { readonly all: boolean; readonly shown?: string | undefined },
): Promise<{ readonly storyId?: string } | undefined> {
  const titles = new Map<string, string>();
  for (const event of folder.runs.events) {
    if (event.type === 'iteration.started' && event.storyId !== undefined) {
      titles.set(event.storyId, event.storyTitle ?? '');
    }
  }
  if (titles.size === 0) {
    throw new HumanError(l10n.t('The newest run here has not worked on a story yet.'));
  }
  const items: (QuickPickItem & { readonly storyId?: string })[] = [...titles].map(
    ([storyId, title]) => ({
      label: plainLabel(storyId, MAX_NAME),
      description: plainLabel(titleNextTo(storyId, title), MAX_TITLE),
      detail: storyId === shown ? l10n.t('shown now') : undefined,
      storyId,
    }),
  );
  const choices = all ? [{ label: l10n.t('All Stories') }, ...items] : items;
  const choice = await window.showQuickPick(choices, { placeHolder, matchOnDescription: true });
  return choice && (choice.storyId === undefined ? {} : { storyId: choice.storyId });
}
