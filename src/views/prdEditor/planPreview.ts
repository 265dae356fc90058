import path from 'node:path';
import {
  commands,
  EventEmitter,
  l10n,
  TabInputTextDiff,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from 'vscode';
import { Command, PLAN_SCHEME } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { plainSentence } from '../common/plainText.ts';

/** The current and the planned content of a story file. */
export interface PlannedChange {
  /** Its current text; `undefined` if the file does not exist yet. */
  readonly before: string | undefined;
  readonly after: string;
  /** Title of the tab. */
  readonly title: string;
  /** The question to the person, with the cost; one or two sentences. */
  readonly question: string;
  /** Absolute path; determines the name and the language. */
  readonly file: string;
}

interface Shown {
  readonly id: string;
  readonly left: Uri;
  readonly right: Uri;
  decide(isAccepted: boolean): void;
}

/** Shows the planned content as a diff, and asks for confirmation. This class writes nothing. */
export class PlanPreview extends Owner implements TextDocumentContentProvider {
  private readonly changeEmitter = this.own(new EventEmitter<Uri>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly texts = new Map<string, string>();
  private readonly shown = new Map<string, Shown>();
  private count = 0;

  constructor() {
    super();
    this.own(workspace.registerTextDocumentContentProvider(PLAN_SCHEME, this));
    closeOrphans();
    for (const [command, isAccepted] of [
      [Command.acceptPlan, true],
      [Command.discardPlan, false],
    ] as const) {
      this.own(
        commands.registerCommand(command, (uri?: unknown) =>
          this.find(uri instanceof Uri ? uri : undefined)?.decide(isAccepted),
        ),
      );
    }
    this.own(
      window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const { input } of closed) {
          if (input instanceof TabInputTextDiff) {
            // A tab that is moved to another group is closed here and opened there.
            const plan = this.find(input.modified);
            if (plan !== undefined && tabOf(plan.right) === undefined) {
              plan.decide(false);
            }
          }
        }
      }),
    );
  }

  override dispose(): void {
    for (const plan of [...this.shown.values()]) {
      plan.decide(false);
    }
    super.dispose();
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** @returns whether the person wants it written; closing the diff means no */
  async show({ after, before, file, question, title }: PlannedChange): Promise<boolean> {
    this.count += 1;
    const id = String(this.count);
    const name = path.basename(file);
    const uri = (side: string) => Uri.from({ scheme: PLAN_SCHEME, path: `/${id}/${side}/${name}` });
    const left = uri('now');
    const right = uri('draft');
    this.texts.set(left.toString(), before ?? '');
    this.texts.set(right.toString(), after);
    const decision = new Promise<boolean>(resolve => {
      this.shown.set(id, { id, left, right, decide: resolve });
    });
    try {
      await commands.executeCommand('vscode.diff', left, right, title, { preview: false });
      void this.ask(id, question);
      return await decision;
    } finally {
      this.shown.delete(id);
      await closeTab(right);
      this.texts.delete(left.toString());
      this.texts.delete(right.toString());
    }
  }

  private async ask(id: string, question: string): Promise<void> {
    const write = l10n.t('Write Stories');
    const discard = l10n.t('Discard');
    const choice = await window.showInformationMessage(plainSentence(question), write, discard);
    // If the message is dismissed without an answer, the buttons above the diff remain.
    if (choice !== undefined) {
      this.shown.get(id)?.decide(choice === write);
    }
  }

  /** The plan of a document, or the visible one. */
  private find(uri: Uri | undefined): Shown | undefined {
    const active = window.tabGroups.activeTabGroup.activeTab?.input;
    const wanted = uri ?? (active instanceof TabInputTextDiff ? active.modified : undefined);
    return [...this.shown.values()].find(({ left, right }) =>
      [left.toString(), right.toString()].includes(wanted?.toString() ?? ''),
    );
  }
}

/** Closes diffs that a reload has restored without their plan. */
function closeOrphans(): void {
  const orphans = window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(
      ({ input }) => input instanceof TabInputTextDiff && input.modified.scheme === PLAN_SCHEME,
    );
  if (orphans.length > 0) {
    void window.tabGroups.close(orphans, true);
  }
}

function tabOf(modified: Uri) {
  return window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .find(
      ({ input }) =>
        input instanceof TabInputTextDiff && input.modified.toString() === modified.toString(),
    );
}

async function closeTab(modified: Uri): Promise<void> {
  const tab = tabOf(modified);
  if (tab !== undefined) {
    await window.tabGroups.close(tab);
  }
}
