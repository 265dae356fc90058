import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type BrowserContext, type CDPSession, chromium, type Page } from '@playwright/test';
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

/** A browser with its only context, and a blank page of it that outlives its windows, with its session. */
interface SharedBrowser {
  readonly profile: TempDir;
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
  private windows: Promise<SharedBrowser> | undefined;
  private started: Promise<VsCodeServer> | undefined;
  private temp: TempDir | undefined;

  /** The browser context for the windows of a story. */
  async context(say: Say): Promise<BrowserContext> {
    this.windows ??= this.startBrowser(say);
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

  /** Only a browser with a profile on the disk keeps the compiled workbench for the next window. */
  private async startBrowser(say: Say): Promise<SharedBrowser> {
    const executablePath = await ensureChromium(say);
    const profile = await tempDir('ralph-fresh-browser-');
    try {
      const options = { executablePath, args: [...chromiumArgs], viewport };
      const context = await chromium.launchPersistentContext(profile.path, options);
      const [blank = await context.newPage()] = context.pages();
      return { profile, context, blank, session: await context.newCDPSession(blank) };
    } catch (error) {
      await profile.remove();
      throw error;
    }
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
    const { context, profile } = (await this.windows) ?? {};
    await context?.close();
    await profile?.remove();
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
