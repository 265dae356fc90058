import { messageOf } from '../base/messageOf.ts';
import { say } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { PRECONDITION_IDS } from '../orchestrator/preconditions/preconditions.ts';
import {
  flagSettings,
  givenSettings,
  type UnusedProgram,
  unusedProgram,
} from '../orchestrator/settings/settings.ts';
import { DEFAULT_SETTINGS, type Settings } from '../orchestrator/settings/settingTable.ts';
import type { Finding } from '../presentation/doctorReport.ts';
import { claudeCheck } from './doctor/claudeCheck.ts';
import type { ConfiguredWorkspace, DiagnosedWorkspace } from './doctor/diagnosedWorkspace.ts';
import { good, MAX_WORDS, wrong, wrongBy } from './doctor/findings.ts';
import { githubCheck } from './doctor/githubCheck.ts';
import { leftoversCheck } from './doctor/leftoversCheck.ts';
import { nodeCheck } from './doctor/nodeCheck.ts';
import { payerCheck } from './doctor/payerCheck.ts';
import { preconditionFindings } from './doctor/preconditionFindings.ts';
import { sdkCheck } from './doctor/sdkCheck.ts';
import { storiesCheck } from './doctor/storiesCheck.ts';
import { verifyCheck } from './doctor/verifyCheck.ts';

type Check = (workspace: ConfiguredWorkspace) => Promise<readonly Finding[]>;

/** In the order in which a person fixes them. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ['node', nodeCheck],
  ['claude', claudeCheck],
  ['sdk', sdkCheck],
  ['payer', payerCheck],
  ['github', githubCheck],
  ['stories', storiesCheck],
  ['leftovers', leftoversCheck],
  ['verify', verifyCheck],
];

/** The check of the settings, which all other checks need. */
const SETTINGS = 'settings';

/** Valid values of {@link DiagnosedWorkspace.only}. */
export const CHECK_IDS: readonly string[] = [
  ...new Set([...CHECKS.map(([id]) => id), ...PRECONDITION_IDS, SETTINGS]),
];

/**
 * Examines everything that a run needs. Changes nothing, starts no program except `git` and `claude --version` (and
 * `gh auth token`, if a repository on GitHub is named), and reports only the names of environment variables.
 */
export async function examine(workspace: DiagnosedWorkspace): Promise<Finding[]> {
  const { only } = workspace;
  const { finding, settings, unused } = await readSettings(workspace);
  const preconditions = await preconditionFindings({
    ...workspace,
    settings,
    unusedProgram: unused,
  });
  const found = await Promise.all(
    CHECKS.filter(([id]) => only?.includes(id) ?? true).map(([id, check]) =>
      check({ ...workspace, settings }).catch((error: unknown) => [
        wrong(
          id,
          say('{0} could not be accessed: {1}', id, shorten(messageOf(error), MAX_WORDS)),
          null,
        ),
      ]),
    ),
  );
  return [...preconditions, ...found.flat(), finding];
}

async function readSettings({ env, files: { workspace }, flags }: DiagnosedWorkspace): Promise<{
  readonly settings: Settings;
  readonly finding: Finding;
  readonly unused?: UnusedProgram;
}> {
  try {
    const given = await givenSettings({ flags, workspace, env });
    return {
      settings: { ...DEFAULT_SETTINGS, ...given },
      finding: good(SETTINGS, 'The settings files are valid.'),
      unused: unusedProgram(given, flags),
    };
  } catch (error) {
    return {
      settings: { ...DEFAULT_SETTINGS, ...flagSettings(flags) },
      finding: wrongBy(SETTINGS, error),
    };
  }
}
