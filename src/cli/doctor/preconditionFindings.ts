import { GitRepository } from '../../orchestrator/git/git.ts';
import { gitGround } from '../../orchestrator/preconditions/precondition.ts';
import {
  type Found,
  lookAtPreconditions,
  PRECONDITION_IDS,
} from '../../orchestrator/preconditions/preconditions.ts';
import { progressFileOf } from '../../orchestrator/run/runWork.ts';
import { agentOf } from '../../orchestrator/settings/settings.ts';
import { readStoryList } from '../../orchestrator/stories/storyFile.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { startingFile } from '../storyFiles.ts';
import type { ConfiguredWorkspace } from './diagnosedWorkspace.ts';
import { good, warn, wrong } from './findings.ts';

/** What prevents a run from starting, and what it warns about: the same list that a run uses. */
export async function preconditionFindings({
  env,
  files,
  only,
  settings,
  storyFile,
  unusedProgram,
}: ConfiguredWorkspace): Promise<readonly Finding[]> {
  const isWanted = (id: string) => only?.includes(id) ?? true;
  if (!PRECONDITION_IDS.some(isWanted)) {
    return [];
  }
  const file = await startingFile(files, storyFile);
  const stories = file === undefined ? undefined : await readStoryList(file);
  const found = await lookAtPreconditions(
    {
      ...{
        files,
        env,
        settings,
        // What is to be said of Claude Code, other checks say.
        findAgent:
          settings.agent === 'command'
            ? async () => agentOf(settings).find?.({ cwd: files.workspace, env })
            : undefined,
        agentProgram: settings.agent === 'command' ? settings.command : undefined,
        unusedProgram,
        progressFile: progressFileOf({ files, storyFile: file }),
      },
      ...gitGround(new GitRepository(files.workspace)),
      stories,
      storyFile: file,
      canHaveLanes: file !== undefined,
      isIsolated: file !== undefined && (settings.lanes > 1 || settings.isolate),
    },
    isWanted,
  );
  return found.map(finding);
}

function finding({ id, judgement }: Found): Finding {
  switch (judgement.level) {
    case 'holds':
      return good(id, judgement.message);
    case 'warns':
      return warn(id, judgement.message, judgement.next ?? null);
    case 'refuses':
      return wrong(id, judgement.message, judgement.next ?? null);
  }
}
