import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium } from '@playwright/test';
import type { Say } from '../../scripts/lib/cache.ts';
import { chromiumArgs, ensureChromium } from '../../scripts/lib/chromium.ts';
import {
  startVsCodeServer,
  type VsCodeServer,
  type VsCodeServerOptions,
} from '../../scripts/lib/vscodeServer.ts';
import { cleanEnv, type TempDir, tempDir } from './cleanEnv.ts';

/**
 * A browser and a VS Code server that the stories of a worker use one after another. Starting them takes as long as
 * opening the window. They keep no state of a story: each one has its own browser context, machine settings and
 * environment.
 */
export class SharedVsCode implements AsyncDisposable {
  private opened: Promise<Browser> | undefined;
  private started: Promise<VsCodeServer> | undefined;
  private temp: TempDir | undefined;

  browser(say: Say): Promise<Browser> {
    this.opened ??= ensureChromium(say).then(executablePath =>
      chromium.launch({ executablePath, args: [...chromiumArgs] }),
    );
    return this.opened;
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
