import type { ProcessIdentity } from '../process/processIdentity.ts';

/** What the run does when the last window that shows it is closed. */
export const ON_LAST_WINDOW = ['continue', 'stopAfterIteration'] as const;
export type OnLastWindow = (typeof ON_LAST_WINDOW)[number];

/** A window that has said hello. */
export interface OpenWindow {
  /** Chosen by the window; it changes with a reload. */
  readonly id: string;
  /** Its process; absent if the window did not name it. */
  readonly process?: ProcessIdentity | undefined;
}

/** The windows that show a run, as far as the loop knows. */
export interface Windows {
  readonly open: readonly OpenWindow[];
  /** Since when there has been no window, in ms since the epoch; absent while there is one. */
  readonly goneSince?: number;
}

/** More windows than anybody opens; a flood of hellos must not fill the memory. */
const MAX_WINDOWS = 100;

/** The state before the first hello: the window that started the run has not said hello yet. */
export function noWindows(now: number): Windows {
  return { open: [], goneSince: now };
}

/** A window shows the run. Pure; a second hello of the same window replaces the first. */
export function withHello({ open }: Windows, window: OpenWindow): Windows {
  return { open: [...open.filter(({ id }) => id !== window.id), window].slice(-MAX_WINDOWS) };
}

/** These windows are gone: they said goodbye, or their processes are dead. Pure. */
export function withoutWindows(windows: Windows, ids: ReadonlySet<string>, now: number): Windows {
  const open = windows.open.filter(({ id }) => !ids.has(id));
  return open.length > 0 ? { open } : { open, goneSince: windows.goneSince ?? now };
}

/** Whether the last window has been closed for too long to be a reload. @param graceMs in ms */
export function areClosed({ goneSince }: Windows, now: number, graceMs: number): boolean {
  return goneSince !== undefined && now - goneSince >= graceMs;
}
