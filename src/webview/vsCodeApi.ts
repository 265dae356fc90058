import type { FromPage } from '../views/progress/protocol.ts';

/** What VS Code gives to a page. */
interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

// It can be acquired once only, so it is, here.
const api = acquireVsCodeApi();

export function post(message: FromPage): void {
  api.postMessage(message);
}

/** How the person had arranged the page; what it tells comes from the extension again. */
export interface PageState {
  readonly scrollY: number;
}

export function savePageState(state: PageState): void {
  api.setState(state);
}

export function savedPageState(): PageState {
  const state = api.getState();
  // An older or newer version of the page may have saved it.
  const scrollY =
    typeof state === 'object' && state !== null && 'scrollY' in state ? state.scrollY : undefined;
  return { scrollY: typeof scrollY === 'number' ? scrollY : 0 };
}
