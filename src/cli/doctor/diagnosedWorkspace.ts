import type { UnusedProgram } from '../../orchestrator/settings/settings.ts';
import type { GivenSettings, Settings } from '../../orchestrator/settings/settingTable.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';

/** What the doctor examines, and with which settings. */
export interface DiagnosedWorkspace {
  readonly files: RunFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Named by the person; otherwise the one that a run would find. */
  readonly storyFile?: string;
  /** `owner/name`: the repository whose issues are to be the stories. */
  readonly github?: string;
  /** The settings given on the command line. */
  readonly flags: GivenSettings;
  /** Ids of the requested checks; all if absent. */
  readonly only?: readonly string[];
}

/** A workspace with the settings that a run would have. */
export interface ConfiguredWorkspace extends DiagnosedWorkspace {
  readonly settings: Settings;
  /** A program that the settings name, but do not choose as the agent. */
  readonly unusedProgram?: UnusedProgram;
}
