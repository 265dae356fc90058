/** Every id that `package.json` contributes. A test compares the two. */

export const Command = {
  startRun: 'ralphFresh.startRun',
  startLanes: 'ralphFresh.startLanes',
  changeLanes: 'ralphFresh.changeLanes',
  runStory: 'ralphFresh.runStory',
  stopStory: 'ralphFresh.stopStory',
  pauseStory: 'ralphFresh.pauseStory',
  continueStory: 'ralphFresh.continueStory',
  continueLane: 'ralphFresh.continueLane',
  stopRun: 'ralphFresh.stopRun',
  stopAfterIteration: 'ralphFresh.stopAfterIteration',
  pauseRun: 'ralphFresh.pauseRun',
  resumeRun: 'ralphFresh.resumeRun',
  skipStory: 'ralphFresh.skipStory',
  resetStory: 'ralphFresh.resetStory',
  giveHint: 'ralphFresh.giveHint',
  answerQuestion: 'ralphFresh.answerQuestion',
  splitStory: 'ralphFresh.splitStory',
  showNextPrompt: 'ralphFresh.showNextPrompt',
  pinFile: 'ralphFresh.pinFile',
  barFile: 'ralphFresh.barFile',
  updatePin: 'ralphFresh.updatePin',
  showRunActions: 'ralphFresh.showRunActions',
  showTerminal: 'ralphFresh.showTerminal',
  filterTerminal: 'ralphFresh.filterTerminal',
  showStoryTerminal: 'ralphFresh.showStoryTerminal',
  allowTool: 'ralphFresh.allowTool',
  showProgress: 'ralphFresh.showProgress',
  openWalkthrough: 'ralphFresh.openWalkthrough',
  checkClaude: 'ralphFresh.checkClaude',
  chooseChecks: 'ralphFresh.chooseChecks',
  createStoryFile: 'ralphFresh.createStoryFile',
  convertStories: 'ralphFresh.convertStories',
  useGithubIssues: 'ralphFresh.useGithubIssues',
  planStories: 'ralphFresh.planStories',
  acceptPlan: 'ralphFresh.acceptPlan',
  discardPlan: 'ralphFresh.discardPlan',
  openStoryFile: 'ralphFresh.openStoryFile',
  openStory: 'ralphFresh.openStory',
  openCommit: 'ralphFresh.openCommit',
  openIterationChanges: 'ralphFresh.openIterationChanges',
  openStoryChanges: 'ralphFresh.openStoryChanges',
  openRunChanges: 'ralphFresh.openRunChanges',
  revertIteration: 'ralphFresh.revertIteration',
  revertStory: 'ralphFresh.revertStory',
  openPlace: 'ralphFresh.openPlace',
  showPlaceChanges: 'ralphFresh.showPlaceChanges',
  openPlaceTerminal: 'ralphFresh.openPlaceTerminal',
  discardWork: 'ralphFresh.discardWork',
  settleConflict: 'ralphFresh.settleConflict',
  landSettled: 'ralphFresh.landSettled',
  giveConflictBack: 'ralphFresh.giveConflictBack',
  noteOnLine: 'ralphFresh.noteOnLine',
  addReviewNote: 'ralphFresh.addReviewNote',
  editReviewNote: 'ralphFresh.editReviewNote',
  saveReviewNote: 'ralphFresh.saveReviewNote',
  cancelReviewNote: 'ralphFresh.cancelReviewNote',
  deleteReviewNote: 'ralphFresh.deleteReviewNote',
  tickStory: 'ralphFresh.tickStory',
  untickStory: 'ralphFresh.untickStory',
  refreshStories: 'ralphFresh.refreshStories',
  chooseStoryFile: 'ralphFresh.chooseStoryFile',
  showRunStories: 'ralphFresh.showRunStories',
  filterStories: 'ralphFresh.filterStories',
  clearFilter: 'ralphFresh.clearFilter',
  moveStoryUp: 'ralphFresh.moveStoryUp',
  moveStoryDown: 'ralphFresh.moveStoryDown',
  acceptDiscovered: 'ralphFresh.acceptDiscovered',
  editDiscovered: 'ralphFresh.editDiscovered',
  dropDiscovered: 'ralphFresh.dropDiscovered',
  openPrompt: 'ralphFresh.openPrompt',
  openTranscript: 'ralphFresh.openTranscript',
  openCheckOutput: 'ralphFresh.openCheckOutput',
  showReceipt: 'ralphFresh.showReceipt',
} as const;

export const View = {
  setup: 'ralphFresh.setup',
  stories: 'ralphFresh.stories',
  iterations: 'ralphFresh.iterations',
} as const;

/** Types of webview panels. VS Code restores a panel by its type, so a type never changes. */
export const WebviewPanelType = {
  progress: 'ralphFresh.progress',
} as const;

export const ContextKey = {
  /** `none`, `broken`, `ready`; absent until the stories have been read for the first time. */
  storyFile: 'ralphFresh.storyFile',
  /** `found`, `notNeeded` (another agent works), `missing`; absent until a feature needs to know. */
  claude: 'ralphFresh.claude',
  /** The checks of a folder were chosen in this window. */
  checksChosen: 'ralphFresh.checksChosen',
  /**
   * Briefly true, to make the walkthrough notice conditions that were met before its steps existed: VS Code never
   * ticks a step for a key that was already set when it created the step, however the key changes later.
   */
  walkthroughSeen: 'ralphFresh.walkthroughSeen',
  /** A run works on another list than the shown one. */
  otherList: 'ralphFresh.otherList',
  /** The Stories view shows only some of its stories. */
  filtered: 'ralphFresh.filtered',
  /** Work that agents have discovered waits for a decision in a folder of the window. */
  discovered: 'ralphFresh.discovered',
  /** `none`, `some`: whether the active folder has had a run; absent until its journals have been searched. */
  runs: 'ralphFresh.runs',
  /**
   * Restricted Mode, as the extension knows it; VS Code's own `isWorkspaceTrusted` is false until trust is
   * determined.
   */
  restricted: 'ralphFresh.restricted',
  /** A loop is alive in this workspace. */
  running: 'ralphFresh.running',
  /** State of the active folder: `idle`, `running`, `waiting` (a pause, a question, a usage limit), `stopping`. */
  runState: 'ralphFresh.runState',
  /** Each agent of the active folder's living run has a place of its own, so that there may be several. */
  lanes: 'ralphFresh.lanes',
  /** The run will wait after this iteration. */
  pauseRequested: 'ralphFresh.pauseRequested',
  /** The agents of the active folder's newest run work in places of their own. */
  isolated: 'ralphFresh.isolated',
  /** A person settles a conflict of that run by hand. */
  settling: 'ralphFresh.settling',
  /** An agent has asked a question that is still unanswered. */
  question: 'ralphFresh.question',
  /** The cursor is in a run's version of a file. */
  reviewable: 'ralphFresh.reviewable',
  /** Every story of the active folder is done. */
  allDone: 'ralphFresh.allDone',
} as const;

/** The prefix of all settings: those of the window here, those of a run in `settings/windowSettings.ts`. */
export const SETTINGS_SECTION = 'ralphFresh';

/** Settings of the window itself; a run does not use them. */
export interface Settings {
  /** Actions above each story in a story file. */
  readonly codeLens: boolean;
  /** What happens to a run when no window shows it anymore. */
  readonly onLastWindowClosed: 'continue' | 'stopAfterIteration';
}

/** Valid values of window settings that have a fixed set of them. */
export const SETTING_VALUES: { readonly [K in keyof Settings]?: readonly Settings[K][] } = {
  onLastWindowClosed: ['continue', 'stopAfterIteration'],
};

/** The controller whose comments are review notes; menus depend on it. */
export const REVIEW_CONTROLLER = 'ralphFresh.review';

export const TASK_TYPE = 'ralphFresh';
/** Read-only file system of commits: `ralph-fresh-git:/path?{"folder":…,"commit":…,"path":…,"side":…}`. */
export const GIT_SCHEME = 'ralph-fresh-git';
/** Read-only file system of places: `ralph-fresh-place:/path?{"folder":…,"place":…,"runId":…,"path":…}`. */
export const PLACE_SCHEME = 'ralph-fresh-place';
/** Files in which a person settles a conflict: `ralph-fresh-settle:/path`. */
export const SETTLE_SCHEME = 'ralph-fresh-settle';
/** Read-only documents of a plan that is not written yet. */
export const PLAN_SCHEME = 'ralph-fresh-plan';
/** Prompts that agents would get. */
export const NEXT_PROMPT_SCHEME = 'ralph-fresh-next-prompt';
/** Read-only documents of a run's records. */
export const RUN_SCHEME = 'ralph-fresh-run';

/** In the format of `workbench.action.openWalkthrough`: the extension's id and the walkthrough's. */
export const WALKTHROUGH = 'ralph-fresh.ralph-fresh#firstMinute';

/** Tools that a language model may use. */
export const Tool = {
  getRunStatus: 'ralph_get_run_status',
  listStories: 'ralph_list_stories',
  startRun: 'ralph_start_run',
} as const;

export type ToolName = (typeof Tool)[keyof typeof Tool];
