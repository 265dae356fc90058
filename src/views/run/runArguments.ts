/** What a window starts a run with, besides its settings. */
export interface WindowChoice {
  /** Of the story file, when a person has chosen one. */
  readonly file?: string;
  /** Ids of the stories to work on; absent: on all. */
  readonly onlyStories?: readonly string[];
  /** What the run does when the last window is closed. */
  readonly onLastWindow: 'continue' | 'stopAfterIteration';
}

/**
 * Arguments of `ralph-fresh run`. Each is one `--flag=value`, so that no value can be taken for an option. Pure.
 * @param settings flags of what somebody has set in the window
 */
export function runArguments(
  settings: readonly string[],
  { file, onlyStories = [], onLastWindow }: WindowChoice,
): string[] {
  return [
    ...settings,
    ...(file === undefined ? [] : [`--file=${file}`]),
    ...onlyStories.map(id => `--story=${id}`),
    ...(onLastWindow === 'continue' ? [] : [`--on-last-window=${onLastWindow}`]),
  ];
}
