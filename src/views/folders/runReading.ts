/** What a window needs to follow runs, as one file that is loaded while the window starts. */
export { RunHistory } from '../../orchestrator/workspace/history.ts';
export { RunWatcher } from '../../orchestrator/workspace/runWatcher.ts';
