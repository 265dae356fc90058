import { commands, type Tab, version, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey, WALKTHROUGH } from '../common/contributions.ts';

/** In ms. VS Code creates the steps after its command, and waits up to five seconds for its experiments first. */
const DELAYS = [500, 1_500, 3_000, 6_000, 10_000];
/** In ms; by then, VS Code knows all walkthroughs. */
const KNOWN_AFTER = 6_000;
/** In s. The window of an older extension host knows them. */
const YOUNG = 10;

/** Shows the walkthrough, and makes it tick the steps that were completed before it was opened. */
export class Walkthrough implements Disposable {
  private readonly seen = new ContextKeyValue<boolean>(ContextKey.walkthroughSeen);
  private timers: NodeJS.Timeout[] = [];

  /** No event reports when the steps exist. */
  async open(): Promise<void> {
    this.dispose();
    await show();
    this.timers = DELAYS.map(delay => setTimeout(() => this.tick(), delay));
    if (staysWithAnother() && process.uptime() < YOUNG) {
      this.timers.push(setTimeout(() => void showAgain(), KNOWN_AFTER));
    }
  }

  /** The steps exist, because one of their buttons was used. */
  tick(): void {
    this.seen.set(true);
    this.seen.set(false);
  }

  dispose(): void {
    this.timers.forEach(clearTimeout);
    this.timers = [];
  }
}

async function show(): Promise<void> {
  await commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false);
}

/** Unless the person has switched to another tab meanwhile. */
async function showAgain(): Promise<void> {
  if (isPage(window.tabGroups.activeTabGroup.activeTab)) {
    await show();
  }
}

/** Asked for a walkthrough that it does not know yet, VS Code 1.103 shows its own and keeps it; 1.139 does not. */
function staysWithAnother(): boolean {
  const minor = Number(/^1\.(\d+)\./.exec(version)?.[1]);
  return minor < 139;
}

/** The page of walkthroughs is not a document, and the API does not report which one it shows. */
function isPage(tab: Tab | undefined): boolean {
  return tab !== undefined && tab.input === undefined;
}
