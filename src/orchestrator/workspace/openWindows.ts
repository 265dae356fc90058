import type { ProcessIdentity } from '../process/processIdentity.ts';

/** What the run does when the last window that shows it is closed. */
export const ON_LAST_WINDOW = ['continue', 'stopAfterIteration'] as const;
export type OnLastWindow = (typeof ON_LAST_WINDOW)[number];

/** A window that has said hello. */
export interface OpenWindow {
  /** Its own name for itself; another one after a reload. */
  readonly id: string;
  /** The process that holds it; absent when the window did not tell. */
  readonly process?: ProcessIdentity | undefined;
}

/** The windows that show a run, as far as the loop has heard. */
export interface Windows {
  readonly open: readonly OpenWindow[];
  /** Since when there is none, in ms since the epoch; absent while there is one. */
  readonly goneSince?: number;
}

/** More windows than anybody has; a flood of hellos must not fill the memory. */
const MAX_WINDOWS = 100;

/** Before the first hello: the window that started the run has yet to say it. */
export function noWindows(now: number): Windows {
  return { open: [], goneSince: now };
}

/** A window shows the run. Pure; a second hello of the same window replaces the first. */
export function withHello({ open }: Windows, window: OpenWindow): Windows {
  return { open: [...open.filter(({ id }) => id !== window.id), window].slice(-MAX_WINDOWS) };
}

/** These windows are gone: they said good-bye, or their processes are dead. Pure. */
export function withoutWindows(windows: Windows, ids: ReadonlySet<string>, now: number): Windows {
  const open = windows.open.filter(({ id }) => !ids.has(id));
  return open.length > 0 ? { open } : { open, goneSince: windows.goneSince ?? now };
}

/** Whether the last window has been closed for so long that it is no reload. @param graceMs in ms */
export function areClosed({ goneSince }: Windows, now: number, graceMs: number): boolean {
  return goneSince !== undefined && now - goneSince >= graceMs;
}
