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

/** Sends a message to the extension, which looks at its shape again; there is no answer but a new state. */
export function post(message: FromPage): void {
  api.postMessage(message);
}

/** How the person had arranged the page; what it tells comes from the extension again. */
export interface PageState {
  readonly scrollY: number;
  /** The numbers of the charts are shown. */
  readonly isTableOpen: boolean;
  /** An answer that is not sent yet, and the question it is for. */
  readonly draft?: { readonly question: string; readonly text: string } | undefined;
}

/** Keeps how the page is arranged, over hiding and reloading; what is not named stays as it was. */
export function savePageState(changed: Partial<PageState>): void {
  api.setState({ ...savedPageState(), ...changed });
}

/** What was kept of the page; of what is missing or of another shape, the beginning. */
export function savedPageState(): PageState {
  // An older or newer version of the page may have saved it.
  const saved = record(api.getState());
  const draft = record(saved['draft']);
  const { question, text } = draft;
  return {
    scrollY: typeof saved['scrollY'] === 'number' ? saved['scrollY'] : 0,
    isTableOpen: saved['isTableOpen'] === true,
    ...(typeof question === 'string' && typeof text === 'string' && { draft: { question, text } }),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
