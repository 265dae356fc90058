/** What a window needs to read story files, as one file that is loaded by the first read. */
export { findStoryFiles } from '../../orchestrator/stories/findStoryFiles.ts';
export { findStoryFile } from '../../orchestrator/stories/knownSources.ts';
export { readStoryFile } from '../../orchestrator/stories/storyFile.ts';
export { folderVersion, isStoryFolder } from '../../orchestrator/stories/storyFolder.ts';
