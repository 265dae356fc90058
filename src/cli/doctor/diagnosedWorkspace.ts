import type { GivenSettings, Settings } from '../../orchestrator/settings/settingTable.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';

/** What the doctor looks at, and with which settings. */
export interface DiagnosedWorkspace {
  readonly files: RunFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Named by the person; else the one that a run would find. */
  readonly storyFile?: string;
  /** What the command line says. */
  readonly flags: GivenSettings;
  /** Ids of the checks that are wanted; all when absent. */
  readonly only?: readonly string[];
}

/** With the settings that a run would have. */
export interface ConfiguredWorkspace extends DiagnosedWorkspace {
  readonly settings: Settings;
}
