import type { FromPage } from '../views/progress/protocol.ts';

/** The API that VS Code provides to a page. */
interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

// It can be acquired only once, so this is the only place.
const api = acquireVsCodeApi();

/** Sends a message to the extension, which validates it. There is no reply except a new state. */
export function post(message: FromPage): void {
  api.postMessage(message);
}

/** How the user has arranged the page; the content comes from the extension again. */
export interface PageState {
  readonly scrollY: number;
  /** Whether the table with the charts' numbers is open. */
  readonly isTableOpen: boolean;
  /** Whether the table with what the lanes have done is open. */
  readonly isLaneTableOpen: boolean;
  /** An unsent answer, and the question it belongs to. */
  readonly draft?: { readonly question: string; readonly text: string } | undefined;
}

/** Saves how the page is arranged, across hiding and reloading. Omitted properties keep their values. */
export function savePageState(changed: Partial<PageState>): void {
  api.setState({ ...savedPageState(), ...changed });
}

/** The saved state of the page; missing or invalid properties get their initial values. */
export function savedPageState(): PageState {
  // An older or newer version of the page may have saved it.
  const saved = record(api.getState());
  const draft = record(saved['draft']);
  const { question, text } = draft;
  return {
    scrollY: typeof saved['scrollY'] === 'number' ? saved['scrollY'] : 0,
    isTableOpen: saved['isTableOpen'] === true,
    isLaneTableOpen: saved['isLaneTableOpen'] === true,
    draft:
      typeof question === 'string' && typeof text === 'string' ? { question, text } : undefined,
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
