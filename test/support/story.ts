import { test as base } from '@playwright/test';
import { SharedVsCode } from './sharedVsCode.ts';
import { Workbench } from './workbench.ts';

export { expect } from '@playwright/test';

/**
 * For stories of the window: like Playwright's `test`, but `Workbench.open` shares one browser and one server among all
 * stories of a worker. A story still has its own window, settings and environment; it only has to import `test` and
 * `expect` from here. For features that a shared server does not support, a separate one is started automatically:
 * Restricted Mode, other extensions, a server folder that is kept.
 */
export const test = base.extend<object, { readonly sharedVsCode: SharedVsCode }>({
  sharedVsCode: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from it what the fixture needs.
    async ({}, use) => {
      await using shared = new SharedVsCode();
      Workbench.shared = shared;
      await use(shared);
      Workbench.shared = undefined;
    },
    { scope: 'worker', auto: true },
  ],
});

/**
 * One window for all stories of a `describe`, for those that differ only by their theme or width: opening a window
 * takes longer than most of them. It is opened before the first of them and closed after the last. A failing story ends
 * the worker, so the next one gets a new window.
 * @param open gets a stack for the resources of the window; it is disposed of after the window
 * @returns a function that returns the window, for use inside a story
 */
export function oneWindow(
  open: (project: AsyncDisposableStack) => Promise<Workbench>,
): () => Workbench {
  const kept = new AsyncDisposableStack();
  let workbench: Workbench | undefined;
  test.beforeAll(async () => {
    workbench = kept.use(await open(kept));
  });
  test.afterAll(() => kept.disposeAsync());
  return () => {
    if (workbench === undefined) {
      throw new Error('The window is open only while a story of its `describe` runs.');
    }
    return workbench;
  };
}
