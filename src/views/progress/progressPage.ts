import { randomBytes } from 'node:crypto';
import {
  commands,
  env,
  type LogOutputChannel,
  l10n,
  Uri,
  ViewColumn,
  type Webview,
  type WebviewOptions,
  type WebviewPanel,
  window,
} from 'vscode';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import { withFileCountUntilEnd } from '../../presentation/storyCount.ts';
import { Command, WebviewPanelType } from '../common/contributions.ts';
import { DisposableStore, Owner } from '../common/disposableStore.ts';
import { translate } from '../common/translate.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folders } from '../folders/folders.ts';
import { EarlierRuns } from './earlierRuns.ts';
import { pageCommands, type Wish } from './pageCommands.ts';
import { progressStrings } from './progressStrings.ts';
import { lastPrompt } from './promptXray.ts';
import { parseFromPage, type ToPage } from './protocol.ts';
import { progressSnapshot } from './snapshot.ts';

/** An agent can emit hundreds of messages a second; nobody reads faster than this. */
const SEND_EVERY_MS = 200;
/** Bars of lanes become longer also while nothing happens. */
const GROW_EVERY_MS = 5_000;

/** The editor tab "Ralph Progress": at most one, restored after a reload, drawn from full snapshots. */
export class ProgressPage extends Owner {
  private readonly folders: Folders;
  private readonly model: ActiveRun;
  private readonly grant: (wish: Wish) => Promise<void>;
  private readonly extensionUri: Uri;
  private readonly log: LogOutputChannel;
  private readonly earlier: EarlierRuns;
  private panel: WebviewPanel | undefined;
  private timer: NodeJS.Timeout | undefined;
  private growTimer: NodeJS.Timeout | undefined;
  /**
   * The visible page of a long run's iterations, and the iteration whose prompt is visible; for another run, the view
   * starts at the newest.
   */
  private looksAt: {
    readonly runId?: string | undefined;
    readonly page?: number;
    readonly promptOf?: number | undefined;
  } = {};

  constructor(folders: Folders, model: ActiveRun, extensionUri: Uri, log: LogOutputChannel) {
    super();
    this.folders = folders;
    this.model = model;
    this.grant = pageCommands(folders, model, log);
    this.extensionUri = extensionUri;
    this.log = log;
    this.earlier = this.own(new EarlierRuns(log));
    this.own(this.earlier.onDidChange(() => this.sendSoon()));
    this.own(commands.registerCommand(Command.showProgress, () => this.show()));
    this.own(model.onDidChange(() => this.sendSoon()));
    this.own(folders.inEach(({ stories }) => stories.onDidChange(() => this.sendSoon())));
    this.own(folders.onDidChange(() => this.sendSoon()));
  }

  override dispose(): void {
    this.clearTimers();
    this.panel?.dispose();
    super.dispose();
  }

  private show(): void {
    if (this.panel) {
      this.panel.reveal();
      return;
    }
    this.adopt(
      window.createWebviewPanel(
        WebviewPanelType.progress,
        l10n.t('Ralph Progress'),
        ViewColumn.Active,
        { enableFindWidget: true },
      ),
    );
  }

  /** Restores a panel from before the reload; its content comes from the journal. */
  restore(panel: WebviewPanel): void {
    if (this.panel) {
      // The command was faster.
      panel.dispose();
      return;
    }
    this.adopt(panel);
  }

  private adopt(panel: WebviewPanel): void {
    this.panel = panel;
    const ofPanel = new DisposableStore();
    ofPanel.add(
      panel.onDidDispose(() => {
        ofPanel.dispose();
        this.clearTimers();
        this.panel = undefined;
      }),
    );
    ofPanel.add(panel.webview.onDidReceiveMessage((message: unknown) => this.receive(message)));
    ofPanel.add(
      panel.onDidChangeViewState(() => {
        if (panel.visible) {
          void this.sendWhenKnown();
        }
      }),
    );
    panel.title = l10n.t('Ralph Progress');
    panel.iconPath = {
      light: Uri.joinPath(this.extensionUri, 'media', 'ralph-light.svg'),
      dark: Uri.joinPath(this.extensionUri, 'media', 'ralph-dark.svg'),
    };
    panel.webview.options = this.options();
    panel.webview.html = this.html(panel.webview);
  }

  private receive(raw: unknown): void {
    const message = parseFromPage(raw);
    if (!message) {
      this.log.warn('The progress page sent a message that is none of its own');
      return;
    }
    switch (message.type) {
      case 'ready':
        void this.sendWhenKnown();
        break;
      case 'showIterations':
        this.look({ page: message.page });
        break;
      case 'showPrompt': {
        const newest = lastPrompt(this.model.events)?.iteration;
        // Back at the newest one, the view follows it again.
        this.look({ promptOf: message.iteration === newest ? undefined : message.iteration });
        break;
      }
      default:
        void this.grant(message);
    }
  }

  private look(at: { readonly page: number } | { readonly promptOf: number | undefined }): void {
    this.looksAt = { ...this.seen(), runId: this.model.current.runId, ...at };
    this.send();
  }

  /** What a person chose to look at in the current run. */
  private seen() {
    return this.looksAt.runId === this.model.current.runId ? this.looksAt : {};
  }

  private sendSoon(): void {
    // A hidden page gets nothing, since VS Code would drop it. It requests the state when it is shown again.
    if (this.panel?.visible) {
      this.timer ??= setTimeout(() => this.send(), SEND_EVERY_MS);
    }
  }

  /**
   * A page that a new window restores asks before the files have been read; "No run yet" would be shown for any
   * folder.
   */
  private async sendWhenKnown(): Promise<void> {
    await this.model.refresh();
    this.send();
  }

  private send(): void {
    this.clearTimers();
    if (this.panel) {
      const message = this.message();
      void this.panel.webview.postMessage(message);
      if (message.snapshot.run?.lanes?.count !== undefined) {
        this.growTimer = setTimeout(() => this.sendSoon(), GROW_EVERY_MS);
      }
    }
  }

  private clearTimers(): void {
    clearTimeout(this.timer);
    clearTimeout(this.growTimer);
    this.timer = undefined;
  }

  private message(): ToPage {
    const { current, events } = this.model;
    const { all, active } = this.folders;
    const stories = active?.stories.current;
    const run = withFileCountUntilEnd(current, active?.stories.current, active?.path ?? '');
    return {
      type: 'snapshot',
      strings: progressStrings(translate),
      snapshot: {
        ...progressSnapshot(run, events, {
          t: translate,
          now: new Date(),
          allDone: isAllDone(active?.stories.current, current.state),
          comparison: {
            earlier:
              active && current.runId !== undefined
                ? this.earlier.before(active.path, current.runId)
                : [],
            stories: stories?.kind === 'stories' ? stories.stories : [],
          },
          page: this.seen().page ?? 0,
          promptOf: this.seen().promptOf,
        }),
        folders:
          all.length > 1
            ? all.map(folder => ({
                id: folder.path,
                name: folder.name,
                active: folder === active,
              }))
            : undefined,
      },
    };
  }

  private options(): WebviewOptions {
    return {
      enableScripts: true,
      enableCommandUris: false,
      enableForms: false,
      localResourceRoots: [
        Uri.joinPath(this.extensionUri, 'dist', 'webview'),
        Uri.joinPath(this.extensionUri, 'media'),
      ],
    };
  }

  private html(webview: Webview): string {
    const uri = (...parts: string[]) =>
      escapeHtml(webview.asWebviewUri(Uri.joinPath(this.extensionUri, ...parts)).toString());
    const nonce = randomBytes(16).toString('base64');
    const policy = [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src ${webview.cspSource}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; ');
    const title = escapeHtml(l10n.t('Ralph Progress'));
    // The text in the body is visible only until there is content: the script or the first snapshot is late.
    return `<!DOCTYPE html>
<html lang="${escapeHtml(env.language)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="stylesheet" href="${uri('media', 'progress.css')}">
</head>
<body>
  <ralph-progress></ralph-progress>
  <p class="loading">${escapeHtml(l10n.t('Loading the progress…'))}</p>
  <script nonce="${nonce}" src="${uri('dist', 'webview', 'main.js')}"></script>
</body>
</html>`;
  }
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
