import path from 'node:path';
import {
  type BrowserContext,
  chromium,
  expect,
  type FrameLocator,
  type Locator,
  type Page,
} from '@playwright/test';
import { chromiumArgs, ensureChromium } from '../../scripts/lib/chromium.ts';
import {
  startVsCodeServer,
  testedVsCode,
  type VsCodeServer,
  type VsCodeServerOptions,
} from '../../scripts/lib/vscodeServer.ts';
import { type SharedVsCode, viewport } from './sharedVsCode.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const screenshots = path.join(
  repoRoot,
  'test-results',
  testedVsCode === 'newest' ? 'screenshots' : `screenshots-${testedVsCode}`,
);

/** Publisher and name, as in package.json. */
const EXTENSION_ID = 'ralph-fresh.ralph-fresh';

/** Only for stories that have failed: a busy machine may need minutes for what usually takes a second. */
const readyLimitMs = 300_000;
const actionLimitMs = 180_000;
const tryMs = 10_000;
/** For the first try: what it waits for has usually been closed, and comes only with the next one. */
const firstTryMs = 1_000;
const closingLimitMs = 60_000;
const triesLimitMs = 300_000;
/** No connection is lost here, so the extension host of a closed window may end soon. */
const graceSeconds = 2;
const foldersTryMs = 30_000;
const highPixels = 3_000;
const pixelsPerTurn = 50;
const maxTurns = 100;
/** Where the mouse is while it scrolls, as fractions of the editor's width and height. */
const wheelPlaces = [
  [0.5, 0.5],
  [0.1, 0.8],
  [0.9, 0.2],
  [0.1, 0.2],
] as const;

/**
 * The names in the settings and in the list of themes, and the suffix of the workbench's class once the theme is
 * loaded.
 */
const themes = {
  ...(testedVsCode === 'newest'
    ? {
        light: { name: 'Light 2026', label: 'Light 2026', file: 'themes-2026-light-json' },
        dark: { name: 'Dark 2026', label: 'Dark 2026', file: 'themes-2026-dark-json' },
      }
    : {
        light: {
          name: 'Default Light Modern',
          label: 'Light Modern',
          file: 'themes-light_modern-json',
        },
        dark: {
          name: 'Default Dark Modern',
          label: 'Dark Modern',
          file: 'themes-dark_modern-json',
        },
      }),
  'hc-dark': {
    name: 'Default High Contrast',
    label: 'Dark High Contrast',
    file: 'themes-hc_black-json',
  },
  'hc-light': {
    name: 'Default High Contrast Light',
    label: 'Light High Contrast',
    file: 'themes-hc_light-json',
  },
} as const;
export type Theme = keyof typeof themes;

/** The element that receives the keys of a text editor; older versions have a text area. */
export const TYPED_INTO = ':is(.native-edit-context, textarea.inputarea):focus';

/**
 * Without a graphics card, each frame of an animation costs processor time, and icons that turn keep half a processor
 * busy. These keep turning for people who prefer reduced motion.
 */
const STILL =
  '.codicon-modifier-spin, .codicon-loading, .codicon-tree-item-loading::before, .monaco-progress-container .progress-bit { animation: none !important; }';

/**
 * The mouse stays where the last click was, so sooner or later a hover comes up there. Playwright would wait until it no
 * longer covers what is clicked next, and it never would.
 */
const HOVERS_ARE_NEVER_CLICKED =
  '.monaco-hover, .context-view:has(.monaco-hover) { pointer-events: none !important; }';

/** Messages that are always in the console of a workbench without network, account and native modules. */
const noise: readonly RegExp[] = [
  /Failed to load resource/,
  /service ?worker/i,
  /A bad HTTP response code \(404\) was received when fetching the script/,
  /Could not locate the bindings file/,
  /native-watchdog|watchdog/,
  /AgentHost/i,
  /open-vsx|ENOTFOUND|ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED/,
  /Timed out waiting for authentication provider/,
  /An unknown error occurred\. Please consult the log/,
  // Timeouts of the workbench on a busy machine.
  /Aborted on\w+-event after \d+ms/,
  /Request \d+ timed out \(\d+ms\)/,
  // From a window that is being reloaded or closed.
  /Unable to write file 'vscode-log:/,
  /IndexedDB database '[^']*' is closed|'IDBTransaction': The transaction has finished/,
  /'BroadcastChannel': Channel is closed/,
  /Throttler is disposed/,
  /Long running operations during shutdown are unsupported in the web/,
  /Canceled: Canceled/,
  // When a key of a menu changes, VS Code draws the lines of a view again that it has drawn, also one that has just moved.
  /TreeError \[[\w.]+\] Data tree node not found: .*\n.*\n.*\.rerender \(/,
  // VS Code may forget what an action above the text does before it shows the new one; see `clickLens`.
  /^Error: Actual command not found, wanted to execute ralphFresh\.onSavedStory \/\d+/,
  // An action above the text may be one of the text before the last save; see `clickLens`.
  / has changed, and its stories have no ids, so \S+ may be another story now: choose it again in the list\./,
  // Only a browser with a profile asks for it.
  /^Manifest fetch from \S+ failed, code 404/,
  // Without a network, there is no gallery of extensions.
  /Error while getting the latest version for the extension/,
];

export interface WorkbenchOptions {
  /** The folder or `.code-workspace` file to open, by its real path. It is modified by the test, so pass a copy. */
  readonly workspace: string;
  /** Folders of fake extensions that are installed in addition to ours. */
  readonly otherExtensions?: readonly string[];
  /** Further parameters of the URL, as VS Code's own launchers pass them. */
  readonly payload?: ReadonlyArray<readonly [string, string]>;
  readonly env: Readonly<Record<string, string>>;
  /** True by default. False opens the folder in Restricted Mode. */
  readonly trusted?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Dark by default; must not be set in `settings`. */
  readonly theme?: Theme;
  /** Language of extensions, such as `de`; the workbench itself has no language pack and stays English. */
  readonly language?: string;
  /** The environment of a screen on which a person or a screen reader can use the window; headless by default. */
  readonly screen?: Readonly<Record<string, string>>;
  /** Kept between two workbenches if given; see `startVsCodeServer`. */
  readonly serverDataDir?: string;
}

/** The browser and the server of a window. */
interface Resources {
  readonly server: VsCodeServer;
  readonly context: BrowserContext;
  /** Closes the windows and all that belongs to them. */
  release(): Promise<void>;
}

const say = (line: string): void => console.log(line);

function serverOptions(options: WorkbenchOptions): VsCodeServerOptions {
  return {
    extensionPath: repoRoot,
    env: options.env,
    trusted: options.trusted ?? true,
    settings: {
      'workbench.colorTheme': themes[options.theme ?? 'dark'].name,
      'workbench.welcomePage.walkthroughs.openOnInstall': false,
      // As on a desktop. In a browser, VS Code saves a second after the last change: the file of one story may come back
      // while the next one in this window has none.
      'files.autoSave': 'off',
      ...options.settings,
    },
    reconnectionGraceSeconds: graceSeconds,
    say,
    otherExtensions: options.otherExtensions,
    serverDataDir: options.serverDataDir,
  };
}

async function sharedVsCode(shared: SharedVsCode, options: WorkbenchOptions): Promise<Resources> {
  const server = await shared.server(serverOptions(options));
  return {
    server,
    context: await shared.context(say),
    release: async () => {
      try {
        await shared.forget();
      } finally {
        await server.endExtensionHosts();
      }
    },
  };
}

async function ownVsCode(options: WorkbenchOptions): Promise<Resources> {
  const executablePath = await ensureChromium(say);
  const server = await startVsCodeServer(serverOptions(options));
  try {
    const { screen } = options;
    const browser = await chromium.launch({
      executablePath,
      args: [...chromiumArgs, ...(screen ? ['--force-renderer-accessibility', '--kiosk'] : [])],
      ...(screen && { headless: false, env: { ...screen } }),
    });
    const release = async () => {
      try {
        await browser.close();
      } finally {
        await server.stop();
      }
    };
    try {
      return {
        server,
        context: await browser.newContext({ viewport: screen ? null : viewport }),
        release,
      };
    } catch (error) {
      await browser.close();
      throw error;
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
}

export interface Notification {
  readonly message: string;
  readonly buttons: readonly string[];
}

/** A real VS Code with our extension in a headless browser, with helpers to use it as a person does. */
export class Workbench implements AsyncDisposable {
  /** Shared by the windows of a worker; set by `test` of story.ts. */
  static shared: SharedVsCode | undefined;

  readonly server: VsCodeServer;
  /** One for all windows: it contains VS Code's stored layout. */
  private readonly context: BrowserContext;
  private readonly resources: Resources;
  private readonly options: WorkbenchOptions;
  private readonly address: string;
  private readonly workspace: string;
  private readonly release: () => Promise<void>;
  private themeFile: string;
  private current: Page | undefined;
  private readonly errors: string[] = [];

  private constructor(resources: Resources, options: WorkbenchOptions) {
    this.server = resources.server;
    this.context = resources.context;
    this.resources = resources;
    this.options = options;
    this.address = resources.server.url(options.workspace, options.payload);
    this.workspace = options.workspace;
    this.release = resources.release;
    this.themeFile = themes[options.theme ?? 'dark'].file;
  }

  static async open(options: WorkbenchOptions): Promise<Workbench> {
    const { shared } = Workbench;
    const isOwn =
      shared === undefined ||
      process.platform === 'win32' ||
      options.trusted === false ||
      options.otherExtensions !== undefined ||
      options.serverDataDir !== undefined ||
      options.screen !== undefined;
    const resources = await (isOwn ? ownVsCode(options) : sharedVsCode(shared, options));
    try {
      const workbench = new Workbench(resources, options);
      await workbench.openWindow();
      if (options.trusted === false && testedVsCode === 'oldest') {
        // It asks at the start; newer versions do not.
        await workbench.dialog.getByRole('button', { name: /^No/ }).click();
      }
      return workbench;
    } catch (error) {
      await resources.release();
      throw error;
    }
  }

  /** The page of the window, for what the helpers below do not cover. */
  get page(): Page {
    if (this.current === undefined) {
      throw new Error('The window is closed.');
    }
    return this.current;
  }

  /** Opens the window again after `closeWindow()`; the server kept running meanwhile. */
  async openWindow(): Promise<void> {
    this.current ??= await this.newPage();
    await this.page.goto(this.address, { timeout: readyLimitMs });
    await this.ready();
    if (this.workspace.endsWith('.code-workspace')) {
      await this.withFolders();
    }
  }

  /**
   * In a browser, VS Code occasionally opens a workspace file without its folders, permanently: its own Explorer says
   * that there are none. In that case it is opened again.
   */
  private async withFolders(): Promise<void> {
    const folders = this.page.locator('.explorer-folders-view .monaco-list-row');
    await expect(async () => {
      await this.view('Explorer');
      try {
        await expect(folders.first()).toBeVisible({ timeout: foldersTryMs });
      } catch (error) {
        await this.page.reload({ timeout: readyLimitMs });
        await this.ready();
        throw error;
      }
    }, `${this.workspace} is open without its folders.`).toPass({ timeout: readyLimitMs });
  }

  /** One more window on the same workspace, which is closed with this one. */
  async anotherWindow(): Promise<Workbench> {
    const other = new Workbench(this.resources, this.options);
    await other.openWindow();
    return other;
  }

  /** Closes the window; its extension host ends some seconds later. */
  async closeWindow(): Promise<void> {
    const page = this.page;
    this.current = undefined;
    await page.close();
  }

  /**
   * Waits until the browser has written the extension's data for the next window (`Memento`), which it does with a
   * delay. A page that is reloaded before loses the data.
   * @param isKept checks all the data, as text
   */
  async kept(isKept: (text: string) => boolean): Promise<void> {
    await expect
      .poll(async () => isKept(await this.page.evaluate(keptByExtension, EXTENSION_ID)), {
        timeout: actionLimitMs,
      })
      .toBe(true);
  }

  /** VS Code's own reload: unlike a browser's, it waits until the open editors are kept for the next window. */
  async reload(): Promise<void> {
    await Promise.all([
      this.page.waitForEvent('load', { timeout: readyLimitMs }),
      this.runCommand('Developer: Reload Window'),
    ]);
    await this.ready();
  }

  /**
   * Leaves the window to the next story as if it had just been opened: without questions, notifications, editors and the
   * panel. What it has in the console so far is forgotten.
   */
  async tidy(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
    await this.closeEditors();
    if (await this.page.locator('.part.panel').isVisible()) {
      await this.runCommand('View: Hide Panel');
    }
    this.errors.length = 0;
  }

  /** Closes what is above the window, such as settings, and all editors. */
  async closeEditors(): Promise<void> {
    const above = this.page.locator('.modal-editor-part');
    await repeated('Something above the window does not close.', async () => {
      if (await above.isVisible()) {
        await this.page.keyboard.press('Escape');
      }
      await above.waitFor({ state: 'hidden', timeout: 1_000 });
    });
    const tabs = this.page.locator('.part.editor .tabs-container .tab');
    if ((await tabs.count()) > 0) {
      await this.runCommand('View: Close All Editors');
      const unsaved = this.dialog.getByRole('button', { name: "Don't Save" });
      await repeated('The editors do not close.', async timeout => {
        if (await unsaved.isVisible()) {
          await unsaved.click({ timeout });
        }
        await expect(tabs).toHaveCount(0, { timeout });
      });
    }
  }

  /** Chooses the theme like a user: a window without native modules does not detect changes of the settings file. */
  async setTheme(theme: Theme): Promise<void> {
    const { label, file } = themes[theme];
    if (file === this.themeFile) {
      return;
    }
    this.themeFile = file;
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    const entry = this.page.locator('.quick-input-widget .monaco-list-row').filter({
      has: this.page.locator('.label-name', { hasText: wholeText(label) }),
      visible: true,
    });
    await repeated(`The list of themes has no "${label}".`, async timeout => {
      await this.runCommand('Preferences: Color Theme');
      await input.waitFor({ timeout });
      await input.fill(label, { timeout });
      await this.clickRow(entry, label, timeout);
      await input.waitFor({ state: 'hidden', timeout });
    });
    await this.themed();
  }

  /** Runs a command from the palette by its whole title, "Category: Title". */
  async runCommand(title: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    // The whole text: in longer titles, the typed part is an element of its own, too.
    const label = this.page.locator('.label-name', { hasText: wholeText(title) });
    const entry = this.page
      .locator('.quick-input-widget .monaco-list-row')
      .filter({ has: label, visible: true });
    await repeated(`The command palette has no entry "${title}".`, async timeout => {
      if (await input.isVisible()) {
        // If it is still open from the last attempt, it keeps its results for the same text.
        await this.page.keyboard.press('Escape');
      }
      await this.page.keyboard.press('F1');
      await input.waitFor({ timeout });
      await input.fill('>', { timeout });
      // The palette may close at any moment, and Playwright would wait for a field that is gone.
      await input.fill(`>${title}`, { timeout });
      await entry.first().waitFor({ timeout });
      // Not Enter: the first entry may be a different, more recently used one.
      await this.clickRow(entry.first(), title, timeout);
    });
    await entry.first().waitFor({ state: 'hidden', timeout: actionLimitMs });
  }

  /**
   * Opens a list of choices and types into it. Keys that are pressed while it comes are lost, or go to the palette that it
   * was opened from.
   */
  async typeIntoChoice(open: () => Promise<void>, text: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget:visible input[type="text"]');
    await expect(async () => {
      if (await input.isVisible()) {
        await this.page.keyboard.press('Escape');
      }
      await open();
      await expect(input).toBeFocused({ timeout: 5_000 });
      await this.page.keyboard.type(text);
      await expect
        .poll(() => input.inputValue(), { timeout: 5_000 })
        .toMatch(new RegExp(`${escapeRegExp(text)}$`));
    }).toPass({ timeout: 180_000 });
  }

  /**
   * Clicks a row of the palette or of another list of choices, once. Anything that takes the focus at this moment closes
   * the list, and then nothing has been clicked.
   */
  private async clickRow(row: Locator, label: string, timeout: number): Promise<void> {
    await this.page.evaluate(watchClickOnRow, label);
    let failure: unknown;
    try {
      await row.click({ timeout });
    } catch (error) {
      // On a busy machine the click may be reported too late, and a second one would run the command twice.
      failure = error;
    }
    // A page without an answer is being reloaded, by the command.
    const clicked = (await this.page.evaluate(clickedRow).catch(() => undefined)) ?? label;
    if (clicked !== label) {
      throw failure ?? new Error(`In place of "${label}", the list has "${clicked}".`);
    }
  }

  /** Expects that the palette offers exactly these commands for a word of their titles. */
  async expectCommands(word: string, titles: readonly string[]): Promise<void> {
    const box = this.page.locator('.quick-input-widget');
    const input = box.locator('input[type="text"]');
    // Other lists with lines of their own stay in the page, hidden.
    const rows = box.locator('.monaco-list-row .label-name').filter({ visible: true });
    const labels = titles.length === 0 ? ['No matching commands'] : titles.map(wholeText);
    await repeated(`The command palette offers something else for "${word}".`, async timeout => {
      await this.page.keyboard.press('Escape');
      await this.page.keyboard.press('F1');
      await input.waitFor({ timeout });
      await input.fill(`>${word}`, { timeout });
      await expect(rows).toHaveText([...labels], { timeout });
      await this.page.keyboard.press('Escape');
      await input.waitFor({ state: 'hidden', timeout });
    });
  }

  /** Clicks until the effect is visible: a busy window loses clicks. Only for actions that may happen twice. */
  async clickUntil(target: Locator, effect: Locator): Promise<void> {
    await expect(async () => {
      if (!(await effect.isVisible())) {
        await target.click({ timeout: tryMs });
      }
      await expect(effect).toBeVisible({ timeout: tryMs });
    }).toPass({ timeout: triesLimitMs });
  }

  /** Shows a view container by its tab in the activity bar, and returns the side bar with its views. */
  async view(name: string): Promise<Locator> {
    const tab = this.activityTab(name);
    await tab.waitFor({ timeout: actionLimitMs });
    // A click on the tab of the visible container would hide it.
    if ((await tab.getAttribute('aria-selected')) !== 'true') {
      await tab.click();
    }
    await expect(tab).toHaveAttribute('aria-selected', 'true', { timeout: actionLimitMs });
    return this.page.locator('.part.sidebar');
  }

  /** The tab's name is followed by a badge's text and a shortcut. */
  activityTab(name: string): Locator {
    return this.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: new RegExp(`^${escapeRegExp(name)}(\\b|$)`) });
  }

  /** A row of a tree; a string matches any part of its accessible name. */
  treeItem(name: string | RegExp): Locator {
    return this.page.getByRole('treeitem', { name });
  }

  /** The entries of a row's context menu, in order. */
  async menuEntries(name: string | RegExp): Promise<string[]> {
    const menu = this.page.locator('.context-view .monaco-menu');
    let found: string[] = [];
    await repeated(`${name} has no menu.`, async timeout => {
      if (!(await menu.isVisible())) {
        await this.treeItem(name).click({ button: 'right', timeout });
      }
      await expect(menu).toBeVisible({ timeout });
      found = await menu.locator('.action-label').allInnerTexts();
    });
    await repeated(`The menu of ${name} does not close.`, async timeout => {
      if (await menu.isVisible()) {
        await this.page.keyboard.press('Escape');
      }
      await expect(menu).toBeHidden({ timeout });
    });
    return found;
  }

  /** Shows the lines below a line of a tree. */
  async expand(line: string | RegExp): Promise<void> {
    const row = this.treeItem(line).first();
    await expanded(row, row.locator('.monaco-tl-twistie'), true);
  }

  /** Expands or collapses a view of the side bar, such as "Stories". A description of the view is part of this name. */
  async showView(name: string, isExpanded: boolean): Promise<void> {
    const header = this.page
      .locator('.part.sidebar')
      .getByRole('button', { name: new RegExp(`^${escapeRegExp(name)}( .*)? Section`) });
    await expanded(header, header, isExpanded);
  }

  /**
   * Chooses an entry of a line's context menu; a busy window loses clicks. The entries of an open menu stay as they were
   * when it opened: in a new window, VS Code may not yet know that the folder is trusted.
   */
  async chooseInMenu(line: string | RegExp, entry: string): Promise<void> {
    const menu = this.page.locator('.context-view .monaco-menu');
    let isClicked = false;
    await expect(async () => {
      if (isClicked && !(await menu.isVisible())) {
        return;
      }
      if (!(await menu.isVisible())) {
        await this.treeItem(line).click({ button: 'right', timeout: 10_000 });
      }
      const item = menu
        .getByRole('menuitem')
        .filter({ has: this.page.getByText(entry, { exact: true }) });
      if ((await item.getAttribute('aria-disabled', { timeout: 10_000 })) === 'true') {
        await this.page.keyboard.press('Escape');
        throw new Error(`"${entry}" is disabled in the menu of ${line}.`);
      }
      await item.click({ timeout: 10_000 });
      isClicked = true;
      await expect(menu).toBeHidden({ timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
  }

  /** The checkbox of a row; its state is in `aria-checked`. */
  checkbox(name: string | RegExp): Locator {
    return this.treeItem(name).getByRole('checkbox');
  }

  /** Content of a visible webview: the last one opened, unless an index is given. */
  webview(index = -1): FrameLocator {
    return this.page
      .locator('iframe.webview.ready')
      .nth(index)
      .contentFrame()
      .frameLocator('#active-frame');
  }

  /**
   * All lines of the visible terminal, including scrollback, with wrapped lines joined. Read from the terminal's own
   * buffer, which VS Code attaches to its element for its own tests: only the visible rows are rendered.
   */
  async terminalText(): Promise<string> {
    const wrapper = this.page.locator('.terminal-wrapper:visible').first();
    await wrapper.waitFor({ timeout: actionLimitMs });
    return wrapper.evaluate(element => {
      interface Line {
        readonly isWrapped: boolean;
        translateToString(trimRight: boolean): string;
      }
      interface Terminal {
        readonly buffer: {
          readonly active: { readonly length: number; getLine(index: number): Line | undefined };
        };
      }
      const buffer = (element as unknown as { xterm?: Terminal }).xterm?.buffer.active;
      let text = '';
      for (let index = 0; index < (buffer?.length ?? 0); index++) {
        const line = buffer?.getLine(index);
        const continued = buffer?.getLine(index + 1)?.isWrapped ?? false;
        text += line?.translateToString(!continued) ?? '';
        text += continued ? '' : '\n';
      }
      return text.trimEnd();
    });
  }

  /** The position of a text in the visible terminal: the middle of its first letters, in pixels. */
  async terminalPlace(text: string): Promise<{ readonly x: number; readonly y: number }> {
    const wrapper = this.page.locator('.terminal-wrapper:visible').first();
    const cell = await wrapper.evaluate((element, wanted) => {
      interface Terminal {
        readonly cols: number;
        readonly rows: number;
        readonly buffer: {
          readonly active: {
            readonly viewportY: number;
            getLine(index: number): { translateToString(): string } | undefined;
          };
        };
      }
      const terminal = (element as unknown as { xterm?: Terminal }).xterm;
      for (let row = 0; terminal !== undefined && row < terminal.rows; row++) {
        const { active } = terminal.buffer;
        const column = active
          .getLine(active.viewportY + row)
          ?.translateToString()
          .indexOf(wanted);
        if (column !== undefined && column >= 0) {
          const box = element.querySelector('.xterm-screen')?.getBoundingClientRect();
          return (
            box && {
              x: box.x + ((column + 1.5) * box.width) / terminal.cols,
              y: box.y + ((row + 0.5) * box.height) / terminal.rows,
            }
          );
        }
      }
      return undefined;
    }, text);
    if (cell === undefined) {
      throw new Error(`The terminal does not show "${text}" now.`);
    }
    return cell;
  }

  /** The texts of the status bar from left to right, one per line. */
  async statusBarText(): Promise<string> {
    const items = await this.page.locator('.part.statusbar .statusbar-item').allInnerTexts();
    return items
      .map(text => text.replaceAll(/\s+/g, ' ').trim())
      .filter(text => text !== '')
      .join('\n');
  }

  statusBarItem(text: string | RegExp): Locator {
    return this.page.locator('.part.statusbar .statusbar-item').filter({ hasText: text });
  }

  /** A visible notification, by a part of its message; its buttons are `getByRole('button')` in it. */
  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-list-item').filter({ hasText: text });
  }

  /**
   * Clicks a button of a notification, which closes it. A notification that was hidden meanwhile is in the notification
   * center, and a busy window loses clicks.
   */
  async clickInNotification(item: Locator, button: string): Promise<void> {
    await expect(async () => {
      if (!(await item.isVisible())) {
        await this.runCommand('Notifications: Show Notifications');
      }
      await item.getByRole('button', { name: button, exact: true }).click({ timeout: tryMs });
      await expect(item).toBeHidden({ timeout: closingLimitMs });
    }, `No notification has a button "${button}".`).toPass({ timeout: triesLimitMs });
  }

  /**
   * Clicks a button of a notification that opens something, and waits until that is visible. Like {@link
   * clickInNotification}, but here the effect shows that the click has arrived.
   */
  async openByNotification(item: Locator, button: string, effect: Locator): Promise<void> {
    let isClicked = false;
    await expect(async () => {
      if (await effect.isVisible()) {
        return;
      }
      if (!isClicked) {
        if (!(await item.isVisible())) {
          await this.runCommand('Notifications: Show Notifications');
        }
        await item.getByRole('button', { name: button, exact: true }).click({ timeout: tryMs });
        isClicked = true;
      }
      try {
        await expect(effect).toBeVisible({ timeout: closingLimitMs });
      } catch (error) {
        // A click that works also closes it. Then the effect is only late, and keys meant for something else would
        // go there.
        isClicked = !(await item.isVisible());
        throw error;
      }
    }, `No notification has a button "${button}".`).toPass({ timeout: triesLimitMs });
  }

  /**
   * All notifications that are not closed, newest first, including those that were hidden after a while. One that a
   * command is about to show may still be missing, so poll this, or wait for `notification()`.
   */
  async notifications(): Promise<readonly Notification[]> {
    await this.runCommand('Notifications: Show Notifications');
    const center = this.page.locator('.notifications-center.visible');
    await center.waitFor({ timeout: actionLimitMs });
    const found = await center.locator('.notification-list-item').evaluateAll(items =>
      items.map(item => ({
        message: item.querySelector('.notification-list-item-message')?.textContent?.trim() ?? '',
        buttons: [
          ...item.querySelectorAll('.notification-list-item-buttons-container .monaco-button'),
        ].map(button => button.textContent?.trim() ?? ''),
      })),
    );
    // Not by its command, which does not exist if the center has closed by itself meanwhile.
    await expect(async () => {
      if (await center.isVisible()) {
        await center.getByRole('button', { name: /^Hide Notifications/ }).click({ timeout: tryMs });
      }
      await expect(center).toBeHidden({ timeout: tryMs });
    }).toPass({ timeout: triesLimitMs });
    // While VS Code starts an extension, it says so.
    return found.filter(({ message }) => !message.startsWith('Activating Extensions'));
  }

  /**
   * Clicks an action above a line of a text until it has its effect. The editor draws these lines again when the text
   * changes. A click in that moment is lost, or VS Code has no command for it any more, or the extension refuses it
   * because it belongs to the text before the change. What comes late must not lead to a click on another story, which
   * may have these words by then.
   */
  async clickLens(lens: Locator, action: string, isDone: () => Promise<boolean>): Promise<void> {
    const all = this.page.locator('.codelens-decoration');
    await repeated(`"${action}" above the text has no effect.`, async timeout => {
      const id = await lens.getAttribute('widgetid', { timeout }).catch(() => null);
      // The words above the text follow the file, so this is asked after the line is known.
      if (!(await isDone())) {
        if (id === null) {
          throw new Error(`Above the text is: ${(await all.allInnerTexts()).join('; ')}`);
        }
        const own = this.page.locator(`.codelens-decoration[widgetid="${id}"]`);
        await own.locator('a', { hasText: wholeText(action) }).click({ timeout });
      }
      await expect.poll(isDone, { timeout }).toBe(true);
    });
  }

  /**
   * Shows the hover of an element, which contains the text. A busy window forgets a mouse that has not moved since, so
   * it is moved away and back until the hover is shown.
   */
  async hover(target: Locator, text: string | RegExp): Promise<Locator> {
    const shown = this.page.locator('.monaco-hover:visible').filter({ hasText: text }).last();
    await repeated(`There is no hover with ${text}.`, async timeout => {
      await this.page.mouse.move(640, 2);
      await target.hover({ timeout });
      await expect(shown).toBeVisible({ timeout });
    });
    return shown;
  }

  /**
   * Scrolls the editor until an element in it can be seen: the editor may place it out of sight, and Playwright cannot
   * scroll there. The mouse is somewhere else in each attempt: what is below it may take the wheel for itself.
   */
  async scrollTo(target: Locator): Promise<void> {
    const editor = this.page.locator('.part.editor');
    let attempt = 0;
    await repeated('It cannot be scrolled into sight.', async () => {
      const [box, sight] = [await target.boundingBox(), await editor.boundingBox()];
      if (box === null || sight === null) {
        throw new Error('It is not in the editor.');
      }
      const middle = box.y + Math.min(box.height, sight.height) / 2;
      if (middle < sight.y || middle > sight.y + sight.height) {
        const [across, down] = wheelPlaces[attempt % wheelPlaces.length] ?? [0.5, 0.5];
        attempt += 1;
        await this.page.mouse.move(sight.x + across * sight.width, sight.y + down * sight.height);
        const distance = middle - sight.y - sight.height / 2;
        await this.turnWheel(distance);
        throw new Error(`It was out of sight, ${Math.round(distance)} pixels from the middle.`);
      }
    });
  }

  /** One turn of the wheel moves an editor by a fixed distance, whatever delta the event has. */
  private async turnWheel(pixels: number): Promise<void> {
    for (let turn = 0; turn < Math.min(Math.abs(pixels) / pixelsPerTurn, maxTurns); turn++) {
      await this.page.mouse.wheel(0, Math.sign(pixels) * 120);
    }
  }

  /** The visible modal dialog. */
  get dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  /**
   * The files of the visible multi-diff editor, in order, as shown in its headers. It draws only those in sight, so for a
   * moment the window is as high as all of them.
   */
  async diffEditorFileNames(): Promise<readonly string[]> {
    const entries = this.page.locator('.editor-instance .multiDiffEditor:visible .multiDiffEntry');
    const tab = this.page.locator('.editor-group-container.active .tab.active');
    const inSight = async (): Promise<readonly string[]> => {
      const found = await entries.filter({ visible: true }).evaluateAll(all =>
        all
          .map(entry => ({
            top: Math.round(entry.getBoundingClientRect().top),
            name: entry.querySelector('.title.modified .monaco-icon-label')?.ariaLabel ?? '',
          }))
          .sort((a, b) => a.top - b.top),
      );
      return [...new Set(found.map(({ name }) => name).filter(name => name !== ''))];
    };
    let names: readonly string[] = [];
    await this.inHighWindow(() =>
      expect
        .poll(
          async () => {
            const count = /\((\d+) files?\)/.exec(await tab.innerText())?.[1];
            names = await inSight();
            return names.length > 0 && names.length === Number(count);
          },
          { timeout: actionLimitMs, intervals: [50] },
        )
        .toBe(true),
    );
    return names.map(name => name.replace(this.workspace, '').replace(/^[\\/]/, ''));
  }

  /** Does something while the window is so high that an editor need not be scrolled. */
  async inHighWindow(action: () => Promise<void>): Promise<void> {
    const size = this.page.viewportSize() ?? { width: 1280, height: 800 };
    await this.page.setViewportSize({ ...size, height: highPixels });
    await action();
    await this.page.setViewportSize(size);
  }

  /** Saves a screenshot of the window below test-results/screenshots. */
  async screenshot(name: string): Promise<string> {
    const file = path.join(screenshots, `${name}.png`);
    // Away from everything that shows a hover.
    await this.page.mouse.move(640, 2);
    await this.page.screenshot({ path: file, animations: 'disabled' });
    return file;
  }

  /** Errors in the browser's console and uncaught ones, without those that every workbench here has. */
  consoleErrors(): readonly string[] {
    return this.errors.filter(text => !noise.some(pattern => pattern.test(text)));
  }

  async close(): Promise<void> {
    await this.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async newPage(): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(actionLimitMs);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    // In each document: a window that is reloaded has a new one.
    await page.addInitScript(css => {
      if (window !== window.top) {
        return;
      }
      document.addEventListener('DOMContentLoaded', () => {
        const style = document.createElement('style');
        style.textContent = css;
        document.head.append(style);
      });
    }, STILL + HOVERS_ARE_NEVER_CLICKED);
    const { language } = this.options;
    if (language !== undefined) {
      await page.addInitScript(name => {
        Object.assign(globalThis, { _VSCODE_NLS_LANGUAGE: name });
      }, language);
    }
    page.on('console', message => {
      if (message.type() === 'error') {
        this.errors.push(message.text());
      }
    });
    page.on('pageerror', error => this.errors.push(error.stack ?? error.message));
    return page;
  }

  /**
   * Waits until the parts are drawn and the extension host runs: extensions are known, and those for the start
   * activated.
   */
  private async ready(): Promise<void> {
    const page = this.page;
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: readyLimitMs });
    await page.waitForFunction(
      () => performance.getEntriesByName('code/didLoadExtensions').length > 0,
      undefined,
      { timeout: readyLimitMs },
    );
    await this.themed();
  }

  /** Waits for the theme: until it is loaded, a workbench has its own default colors. */
  private async themed(): Promise<void> {
    await this.page
      .locator(`.monaco-workbench[class*="${this.themeFile}"]`)
      .waitFor({ timeout: readyLimitMs });
  }
}

/**
 * Tries until it succeeds, first with little patience: what comes too late on a busy machine gets more time with each
 * try.
 * @param what says that it never did
 */
async function repeated(what: string, attempt: (timeout: number) => Promise<void>): Promise<void> {
  let patienceMs = firstTryMs;
  await expect(async () => {
    const timeout = patienceMs;
    patienceMs = Math.min(1.5 * patienceMs, tryMs);
    await attempt(timeout);
  }, what).toPass({ timeout: triesLimitMs, intervals: [100] });
}

/** Clicks until something is expanded or collapsed: what moves or is drawn again loses clicks. */
async function expanded(target: Locator, clicked: Locator, isExpanded: boolean): Promise<void> {
  const wanted = String(isExpanded);
  await repeated(`${target} is not ${isExpanded ? 'expanded' : 'collapsed'}.`, async timeout => {
    if ((await target.getAttribute('aria-expanded', { timeout })) !== wanted) {
      await clicked.click({ timeout });
    }
    await expect(target).toHaveAttribute('aria-expanded', wanted, { timeout });
  });
}

function wholeText(text: string): RegExp {
  return new RegExp(`^\\s*${escapeRegExp(text)}\\s*$`);
}

interface WatchedClick {
  clickedRow?: string;
}

/**
 * Runs in the page: records the label of the row that is clicked next. A list that gets more results in the moment of a
 * click shows another choice in the same row: such a click does nothing.
 */
function watchClickOnRow(label: string): void {
  const page = window as WatchedClick;
  page.clickedRow = '';
  window.addEventListener(
    'click',
    event => {
      const row =
        event.target instanceof Element
          ? event.target.closest('.quick-input-widget .monaco-list-row')
          : null;
      if (row) {
        page.clickedRow = row.querySelector('.label-name')?.textContent?.trim() ?? '';
        if (page.clickedRow !== label) {
          event.preventDefault();
          event.stopImmediatePropagation();
        }
      }
    },
    { capture: true, once: true },
  );
}

/** Runs in the page. @returns the label of the row that was clicked, empty until then; undefined after a reload */
function clickedRow(): string | undefined {
  return (window as WatchedClick).clickedRow;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Runs in the page. @returns everything that VS Code's web workbench has written for an extension */
async function keptByExtension(extensionId: string): Promise<string> {
  const answer = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const texts: string[] = [];
  for (const { name } of await indexedDB.databases()) {
    if (name?.startsWith('vscode-web-state-db-')) {
      const database = await answer(indexedDB.open(name));
      for (const table of database.objectStoreNames) {
        const value: unknown = await answer(
          database.transaction(table).objectStore(table).get(extensionId),
        );
        texts.push(String(value ?? ''));
      }
      database.close();
    }
  }
  return texts.join('\n');
}
