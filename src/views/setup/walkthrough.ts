import { commands, type Tab, version, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey, WALKTHROUGH } from '../common/contributions.ts';

/** In ms. VS Code makes the steps after its command is over, and waits up to five seconds for its experiments first. */
const DELAYS = [500, 1_500, 3_000, 6_000, 10_000];
/** In ms; it knows all walkthroughs by then. */
const KNOWN_AFTER = 6_000;
/** In s. An extension host that is older belongs to a window that knows them. */
const YOUNG = 10;

/** Shows the walkthrough, and has it tick the steps that were fulfilled before it was opened. */
export class Walkthrough implements Disposable {
  private readonly seen = new ContextKeyValue<boolean>(ContextKey.walkthroughSeen);
  private timers: NodeJS.Timeout[] = [];

  /** Nobody tells when the steps are there. */
  async open(): Promise<void> {
    this.dispose();
    await show();
    this.timers = DELAYS.map(delay => setTimeout(() => this.tick(), delay));
    if (staysWithAnother() && process.uptime() < YOUNG) {
      this.timers.push(setTimeout(() => void showAgain(), KNOWN_AFTER));
    }
  }

  /** The steps are there: one of their buttons was used. */
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

/** Unless the person has gone elsewhere meanwhile. */
async function showAgain(): Promise<void> {
  if (isPage(window.tabGroups.activeTabGroup.activeTab)) {
    await show();
  }
}

/** Asked for one that it does not know yet, VS Code 1.103 shows its own and stays there; 1.139 does not. */
function staysWithAnother(): boolean {
  const minor = Number(/^1\.(\d+)\./.exec(version)?.[1]);
  return minor < 139;
}

/** The page of walkthroughs is no document, and which of them it shows is not told. */
function isPage(tab: Tab | undefined): boolean {
  return tab !== undefined && tab.input === undefined;
}
