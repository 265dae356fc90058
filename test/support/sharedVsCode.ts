import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
} from '@playwright/test';
import type { Say } from '../../scripts/lib/cache.ts';
import { chromiumArgs, ensureChromium } from '../../scripts/lib/chromium.ts';
import {
  startVsCodeServer,
  type VsCodeServer,
  type VsCodeServerOptions,
} from '../../scripts/lib/vscodeServer.ts';
import { cleanEnv, type TempDir, tempDir } from './cleanEnv.ts';

/** The size of a window, in pixels. */
export const viewport = { width: 1280, height: 800 };

/** A browser context, and a blank page of it that outlives its windows, with its session. */
interface SharedContext {
  readonly context: BrowserContext;
  readonly blank: Page;
  readonly session: CDPSession;
}

/**
 * A browser and a VS Code server that the stories of a worker use one after another. Starting them takes as long as
 * opening the window. They keep no state of a story: each one has its own machine settings and environment, and
 * what its windows have stored in the browser is removed. The workbench itself stays in the browser's cache.
 */
export class SharedVsCode implements AsyncDisposable {
  private opened: Promise<Browser> | undefined;
  private windows: Promise<SharedContext> | undefined;
  private started: Promise<VsCodeServer> | undefined;
  private temp: TempDir | undefined;

  browser(say: Say): Promise<Browser> {
    this.opened ??= ensureChromium(say).then(executablePath =>
      chromium.launch({ executablePath, args: [...chromiumArgs] }),
    );
    return this.opened;
  }

  /** The browser context for the windows of a story. */
  async context(say: Say): Promise<BrowserContext> {
    this.windows ??= this.newContext(say);
    return (await this.windows).context;
  }

  /** Closes the windows of a story, and removes what they have stored: the next story has other folders and settings. */
  async forget(): Promise<void> {
    const { blank, context, session } = (await this.windows) ?? {};
    for (const page of context?.pages() ?? []) {
      if (page !== blank) {
        await page.close();
      }
    }
    const { port } = (await this.started) ?? {};
    await session?.send('Storage.clearDataForOrigin', {
      origin: `http://localhost:${port}`,
      storageTypes:
        'cache_storage,cookies,file_systems,indexeddb,local_storage,service_workers,websql',
    });
  }

  private async newContext(say: Say): Promise<SharedContext> {
    const browser = await this.browser(say);
    const context = await browser.newContext({ viewport });
    const blank = await context.newPage();
    return { blank, context, session: await context.newCDPSession(blank) };
  }

  /**
   * A server that uses these settings and this environment from now on. Its own data is in a separate home, which
   * outlives the folders of a story.
   */
  async server(options: VsCodeServerOptions): Promise<VsCodeServer> {
    this.started ??= this.start(options);
    const server = await this.started;
    await server.configure(options);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.opened)?.close();
    await (await this.started)?.stop();
    await this.temp?.remove();
  }

  private async start(options: VsCodeServerOptions): Promise<VsCodeServer> {
    this.temp = await tempDir('ralph-fresh-shared-');
    const home = path.join(this.temp.path, 'home');
    await mkdir(home);
    // The variable says that the environment is complete. Otherwise the server asks the user's shell for more, once.
    return startVsCodeServer({ ...options, env: cleanEnv({ home, extra: { VSCODE_CLI: '1' } }) });
  }
}
