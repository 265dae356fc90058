/** What a window starts a run with, apart from its settings. */
export interface WindowChoice {
  /** Path of the story file, if a person has chosen one. */
  readonly file?: string;
  /** Ids of the stories to work on; all if absent. */
  readonly onlyStories?: readonly string[];
  /** Number of agents at once; as set if absent. */
  readonly lanes?: number | undefined;
  /** Behavior of the run when the last window is closed. */
  readonly onLastWindow: 'continue' | 'stopAfterIteration';
}

/**
 * Arguments of `ralph-fresh run`. Each is one `--flag=value`, so that no value can be parsed as an option. Pure.
 * @param settings flags of the settings that are set in the window
 */
export function runArguments(
  settings: readonly string[],
  { file, lanes, onlyStories = [], onLastWindow }: WindowChoice,
): string[] {
  return [
    ...settings.filter(flag => lanes === undefined || !flag.startsWith('--lanes=')),
    ...(lanes === undefined ? [] : [`--lanes=${lanes}`]),
    ...(file === undefined ? [] : [`--file=${file}`]),
    ...onlyStories.map(id => `--story=${id}`),
    ...(onLastWindow === 'continue' ? [] : [`--on-last-window=${onLastWindow}`]),
  ];
}
