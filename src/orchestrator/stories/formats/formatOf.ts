import { backlog } from './backlogFormat.ts';
import { beads } from './beadsFormat.ts';
import { bmad, isBmadText } from './bmadFormat.ts';
import { isFolderText } from './folderText.ts';
import { orchestration } from './orchestrationFormat.ts';
import { kiroPlan, openSpecPlan, plan, specKitPlan, specsIndex, tasksPlan } from './planFormat.ts';
import { prd } from './prdFormat.ts';
import { isRalphOrchestratorText, ralphOrchestrator } from './ralphOrchestratorFormat.ts';
import type { StoryFormat } from './storyFormat.ts';
import { isTaskMasterText, taskMaster } from './taskMasterFormat.ts';
import { isTaskGraphText, tasks } from './tasksFormat.ts';

/**
 * Recognizes the format of a story file by its name, and by its content if the extension is ambiguous. A Markdown
 * file is an index of specifications if it is the INDEX.md or README.md of a folder `specs`.
 */
export function formatOf(path: string, text: string): StoryFormat {
  if (isFolderText(text)) {
    return backlog;
  }
  switch (/\.(\w+)$/.exec(path)?.[1]?.toLowerCase()) {
    case 'json':
      return isTaskMaster(path, text) ? taskMaster : prd;
    case 'jsonl':
    case 'ndjson':
      // A graph can have the ids of the list that it was made from.
      return isTaskGraph(path) || (!isOfOtherTool(path) && isTaskGraphText(text))
        ? tasks
        : isRalphOrchestrator(path, text)
          ? ralphOrchestrator
          : beads;
    case 'yaml':
    case 'yml':
      return isBmadText(text) ? bmad : orchestration;
    case 'md':
    case 'markdown':
    case 'mdx':
      return markdownFormat(path);
    default:
      return formatOfContent(text);
  }
}

function markdownFormat(path: string): StoryFormat {
  if (/(?:^|[\\/])\.?specs?[\\/](?:index|readme)\.\w+$/i.test(path)) {
    return specsIndex;
  }
  if (/(?:^|[\\/])\.kiro[\\/]specs[\\/]/.test(path)) {
    return kiroPlan;
  }
  if (!/(?:^|[\\/])tasks\.md$/i.test(path)) {
    return plan;
  }
  if (/(?:^|[\\/])openspec[\\/]changes[\\/]/.test(path)) {
    return openSpecPlan;
  }
  return /(?:^|[\\/])specs[\\/]\d{3}-[^\\/]+[\\/]/.test(path) ? specKitPlan : tasksPlan;
}

function isTaskMaster(path: string, text: string): boolean {
  return (
    /(?:^|[\\/])\.taskmaster[\\/]/.test(path) ||
    (/(?:^|[\\/])tasks\.json$/i.test(path) && isTaskMasterText(text))
  );
}

function isRalphOrchestrator(path: string, text: string): boolean {
  return /(?:^|[\\/])\.ralph[\\/]agent[\\/]/.test(path) || isRalphOrchestratorText(text);
}

function formatOfContent(text: string): StoryFormat {
  if (/^\s*[[{]/.test(text)) {
    return prd;
  }
  if (/^phases:/m.test(text)) {
    return orchestration;
  }
  return /^[\t ]*(?:[-*+]|\d+[.)])[\t ]+\[[ xX]\]/m.test(text) ? plan : prd;
}

/** The file of our own task graph. Other tools keep a file of that name in a folder of their own. */
function isTaskGraph(path: string): boolean {
  return /(?:^|[\\/])tasks\.(?:jsonl|ndjson)$/i.test(path) && !isOfOtherTool(path);
}

function isOfOtherTool(path: string): boolean {
  return /(?:^|[\\/])\.?(?:agent|beads)[\\/][^\\/]+$/i.test(path);
}
