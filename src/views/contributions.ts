/** Every id that `package.json` contributes. A test holds the two against each other. */

export const Command = {
  startRun: 'ralphFresh.startRun',
  stopRun: 'ralphFresh.stopRun',
  showTerminal: 'ralphFresh.showTerminal',
  showProgress: 'ralphFresh.showProgress',
  createStoryFile: 'ralphFresh.createStoryFile',
  openStoryFile: 'ralphFresh.openStoryFile',
  openStory: 'ralphFresh.openStory',
  openCommit: 'ralphFresh.openCommit',
  tickStory: 'ralphFresh.tickStory',
  untickStory: 'ralphFresh.untickStory',
  refreshStories: 'ralphFresh.refreshStories',
} as const;

export const View = {
  stories: 'ralphFresh.stories',
} as const;

/** Types of webview panels. VS Code restores a panel by it, so it never changes. */
export const WebviewPanelType = {
  progress: 'ralphFresh.progress',
} as const;

export const ContextKey = {
  /** `none`, `broken`, `ready`; absent until the stories were read for the first time. */
  storyFile: 'ralphFresh.storyFile',
  /** A loop is alive in this workspace. */
  running: 'ralphFresh.running',
} as const;

/** Settings below `ralphFresh.`; the keys of {@link Settings}. */
export const SETTINGS_SECTION = 'ralphFresh';

export interface Settings {
  readonly agent: 'claude' | 'demo';
  readonly claudePath: string;
  readonly model: string;
  readonly maxIterations: number;
}

export const TASK_TYPE = 'ralphFresh';
/** Read-only file system of commits: `ralph-fresh-git:/path?{"commit":…,"path":…}`. */
export const GIT_SCHEME = 'ralph-fresh-git';
