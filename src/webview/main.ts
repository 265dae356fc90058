import type { ToPage } from '../views/progress/protocol.ts';
import { ProgressElement } from './progressElement.ts';
import { post, savedPageState, savePageState } from './vsCodeApi.ts';

const SAVE_SCROLL_AFTER_MS = 200;

const page = document.querySelector('ralph-progress');
if (page instanceof ProgressElement) {
  let first = true;
  window.addEventListener('message', async ({ data }: MessageEvent<ToPage | undefined>) => {
    if (data?.type !== 'snapshot') {
      return;
    }
    page.show(data);
    if (first) {
      first = false;
      // Before it is drawn, there is nothing to scroll.
      await page.updateComplete;
      window.scrollTo(0, savedPageState().scrollY);
      keepScroll();
    }
  });
  post({ type: 'ready' });
}

function keepScroll(): void {
  let timer: number | undefined;
  window.addEventListener(
    'scroll',
    () => {
      clearTimeout(timer);
      timer = setTimeout(() => savePageState({ scrollY: window.scrollY }), SAVE_SCROLL_AFTER_MS);
    },
    { passive: true },
  );
}
