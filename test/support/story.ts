import { test as base } from '@playwright/test';
import { SharedVsCode } from './sharedVsCode.ts';
import { Workbench } from './workbench.ts';

export { expect } from '@playwright/test';

/**
 * For stories of the window: as `test` of Playwright, but `Workbench.open` uses one browser and one server for all stories
 * of a worker. Nothing else changes for a story, which has its own window, settings and environment as ever; so import
 * `test` and `expect` from here. What a shared server cannot give gets one of its own by itself: Restricted Mode, other
 * extensions, a server folder that is kept.
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
 * One window for all stories of a `describe`, for those that differ by their theme or width alone: to open a window takes
 * longer than most of them. It is opened before the first of them and closed after the last. A story that fails ends the
 * worker, so the next one has a window of its own.
 * @param open gets a stack for what the window is open on; it is disposed of after the window
 * @returns the window, for inside a story
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
