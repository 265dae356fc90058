import path from 'node:path';
import { assertNever } from '../../base/assertNever.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { withoutUndefined } from '../../base/withoutUndefined.ts';
import type { Agent } from '../agents/agent.ts';
import { type ClaudeCodeOptions, claudeAgent, claudeEnv, homeOf } from '../agents/claude/claude.ts';
import { commandAgent } from '../agents/command/command.ts';
import { COMMAND_PRESETS, commandPreset } from '../agents/command/commandPresets.ts';
import { demoAgent } from '../agents/demo/demoAgent.ts';
import { findSdk } from '../agents/sdk/findSdk.ts';
import { sdkAgent } from '../agents/sdk/sdk.ts';
import { DEFAULT_CONFIG, type RunConfig } from './config.ts';
import { ownSettingsFile } from './ownSettingsFile.ts';
import { readSettingsFile } from './settingsFile.ts';
import {
  DEFAULT_SETTINGS,
  definitionOf,
  type GivenSettings,
  SETTING_NAMES,
  type SettingName,
  type Settings,
} from './settingTable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingsSources {
  /** The settings from the command line. */
  readonly flags?: GivenSettings;
  /** The remembered settings of an earlier run that continues; see {@link recalledSettings}. */
  readonly recalled?: GivenSettings;
  /** Absolute path. */
  readonly workspace: string;
  readonly env?: Environment;
  readonly platform?: NodeJS.Platform;
}

/**
 * Merges the settings of a run, highest precedence first: flags, those of the run that continues, the workspace's
 * `.omc/config.json`, the person's own `config.json`, defaults. Of several budgets the smallest is used, unless a
 * flag sets one.
 *
 * @throws {HumanError} with the file, the line and how to fix it
 */
export async function resolveSettings(sources: SettingsSources): Promise<Settings> {
  return { ...DEFAULT_SETTINGS, ...(await givenSettings(sources)) };
}

/**
 * Like {@link resolveSettings}, but without defaults.
 * @throws {HumanError} like {@link resolveSettings}
 */
export async function givenSettings({
  env = process.env,
  flags = {},
  platform = process.platform,
  recalled = {},
  workspace,
}: SettingsSources): Promise<GivenSettings> {
  const ownFile = ownSettingsFile(env, platform);
  const own = ownFile === undefined ? {} : await readSettingsFile(ownFile, { kind: 'person' });
  const shared = await readSettingsFile(path.join(workspace, '.omc', 'config.json'), {
    kind: 'workspace',
    ownFile,
  });
  const chosen = withoutUndefined(flags);
  const agent = chosen.agent ?? recalled.agent ?? shared.agent ?? own.agent;
  const isOther = agent !== undefined && agent !== 'command';
  return {
    ...(isProgramNamed(chosen) || isOther ? withoutCommand(own) : own),
    ...shared,
    ...recalled,
    ...smallestBudgets(own, shared, recalled),
    ...flagSettings(flags),
  };
}

/** What flags alone say. Naming the agent's program also selects that agent. */
export function flagSettings(flags: GivenSettings): GivenSettings {
  const chosen = withoutUndefined(flags);
  return { ...(isProgramNamed(chosen) && { agent: 'command' as const }), ...chosen };
}

function isProgramNamed({ command, preset }: GivenSettings): boolean {
  return command !== undefined || preset !== undefined;
}

/**
 * The settings from the command line that a run may remember: all except personal ones, which must be given each
 * time. Protective ones are remembered nevertheless.
 */
export function rememberedSettings(flags: GivenSettings): GivenSettings {
  return only(
    flags,
    setting => flags[setting] !== undefined && isRemembered(setting, flags[setting]),
  );
}

/**
 * The settings of an earlier run, from its journal. A repository may contain a forged journal, so personal settings
 * are ignored unless they are protective; settings unknown to this version are omitted.
 */
export function recalledSettings(recorded: Readonly<Record<string, unknown>>): GivenSettings {
  return Object.fromEntries(
    SETTING_NAMES.flatMap(setting => {
      const value = definitionOf(setting).kind.schema.safeParse(recorded[setting]);
      return value.success && value.data !== undefined && isRemembered(setting, value.data)
        ? [[setting, value.data]]
        : [];
    }),
  );
}

function isRemembered(setting: SettingName, value: unknown): boolean {
  const { isPersonal, isProtective } = definitionOf(setting);
  return isPersonal?.(value) !== true || isProtective?.(value) === true;
}

/** A repository, or the journal in it, can lower a person's budget, but never raise it. */
function smallestBudgets(...places: readonly GivenSettings[]): GivenSettings {
  const smallest = (setting: 'budgetUsd' | 'iterationBudgetUsd') => {
    const named = places.flatMap(place => place[setting] ?? []);
    return named.length === 0 ? {} : { [setting]: Math.min(...named) };
  };
  return { ...smallest('budgetUsd'), ...smallest('iterationBudgetUsd') };
}

/** The settings of another program as the agent: they belong together and must come from the same source. */
const COMMAND_SETTINGS: readonly SettingName[] = [
  'command',
  'commandArgs',
  'commandPrompt',
  'preset',
];

function withoutCommand(settings: GivenSettings): GivenSettings {
  return only(settings, setting => !COMMAND_SETTINGS.includes(setting));
}

/** A program that does no work, although a person names it. */
export interface UnusedProgram {
  readonly setting: 'command' | 'preset';
  readonly name: string;
  /** Works instead, because the same command line names it. Absent: the person's own file leaves open who works. */
  readonly instead?: Settings['agent'];
}

/**
 * @param given without defaults: a flag that names a program chooses the agent as well, so only the person's own file
 * can name one and leave the agent open
 * @param flags those of them that were given on the command line
 */
export function unusedProgram(
  given: GivenSettings,
  flags: GivenSettings,
): UnusedProgram | undefined {
  const named = programOf(flags);
  return named !== undefined && flags.agent !== undefined && flags.agent !== 'command'
    ? { ...named, instead: flags.agent }
    : given.agent === undefined
      ? programOf(given)
      : undefined;
}

function programOf({ command, preset }: GivenSettings): UnusedProgram | undefined {
  const name = command ?? preset;
  return name === undefined
    ? undefined
    : { setting: command === undefined ? 'preset' : 'command', name };
}

function only(settings: GivenSettings, isKept: (setting: SettingName) => boolean): GivenSettings {
  return Object.fromEntries(
    SETTING_NAMES.filter(setting => setting in settings && isKept(setting)).map(setting => [
      setting,
      settings[setting],
    ]),
  );
}

/** The configuration of the loop. */
export function configOf(settings: Settings): RunConfig {
  const { allowedTools, budgetUsd, effort, fallbackModel, iterationBudgetUsd, model } = settings;
  return {
    maxIterations: settings.maxIterations,
    maxTurnsPerIteration: settings.maxTurnsPerIteration,
    completionPromise: settings.completionPromise,
    stuckThreshold: settings.stuckThreshold,
    onStuck: settings.onStuck,
    onQuestion: settings.onQuestion,
    onLimit: settings.onLimit,
    limitRetryMs: ms(settings.limitRetryMinutes * 60),
    failThreshold: settings.failThreshold,
    retryAttempts: settings.retryAttempts,
    retryDelayMs: ms(settings.retryDelaySeconds),
    verify: settings.verify,
    verifyTimeLimitMs: ms(settings.verifyTimeLimitMinutes * 60),
    reviewer: settings.reviewer,
    reviewerModel: settings.reviewerModel,
    guard: settings.guard,
    branch: settings.branch,
    lanes: settings.lanes,
    isolate: settings.isolate,
    landAs: settings.landAs,
    landBatch: settings.landBatch,
    flakyChecks: settings.flakyChecks,
    contextTokens: settings.contextTokens,
    acceptDiscovered: settings.acceptDiscovered,
    compactAt: settings.compactAt,
    progressMaxLines: settings.progressMaxLines,
    placeSetup: settings.placeSetup,
    model,
    fallbackModel,
    effort,
    allowedTools,
    budgetUsd,
    iterationBudgetUsd,
    limits: {
      ...DEFAULT_CONFIG.limits,
      hardMs: ms(settings.timeLimitMinutes * 60),
      idleMs: ms(settings.idleLimitMinutes * 60),
    },
  };
}

function ms(seconds: number): number {
  return Math.round(seconds * 1_000);
}

/**
 * The agent that does the work.
 * @throws {HumanError} if the settings do not name its program
 */
export function agentOf(settings: Settings): Agent {
  const { agent, extraArgs, sdkPath } = settings;
  switch (agent) {
    case 'claude':
      return claudeAgent({ ...claudeCodeOptions(settings), extraArgs });
    case 'sdk':
      return sdkAgent({ ...claudeCodeOptions(settings), sdkPath });
    case 'command':
      return commandOf(settings);
    case 'demo':
      return demoAgent();
    default:
      return assertNever(agent);
  }
}

/**
 * The replacement if `claude` cannot be started: the Agent SDK, if it is installed.
 *
 * @param workspace absolute path; trusted, because its own packages are searched (see {@link findSdk})
 * @throws {HumanError} if the settings name an SDK that does not exist
 */
export async function fallbackAgentOf(
  settings: Settings,
  { env, workspace }: { readonly env: Environment; readonly workspace: string },
): Promise<Agent | undefined> {
  const { agent, sdkPath } = settings;
  if (agent !== 'claude') {
    return undefined;
  }
  const options = claudeCodeOptions(settings);
  const clean = claudeEnv(options, env);
  try {
    await findSdk({ sdkPath, cwd: workspace, env: clean, home: homeOf(clean) });
  } catch (error) {
    if (error instanceof HumanError && sdkPath === undefined) {
      return undefined;
    }
    throw error;
  }
  return sdkAgent({ ...options, sdkPath });
}

function claudeCodeOptions(settings: Settings): ClaudeCodeOptions {
  const { allowedTools, apiKey, claudePath, effort, fallbackModel } = settings;
  return {
    claudePath,
    permissionMode: settings.permissionMode,
    fallbackModel,
    effort,
    allowedTools,
    skipPermissions: settings.skipPermissions,
    removeApiKey: apiKey === 'remove',
  };
}

function commandOf(settings: Settings): Agent {
  const { apiKey, command, commandArgs, commandPrompt, preset, skipPermissions } = settings;
  const known = preset && commandPreset(preset, { skipPermissions });
  const program = command ?? known?.command;
  if (program === undefined) {
    throw new HumanError(
      say(
        'The agent "command" needs a program: name one that is known with --preset ({0}), or any other with --command.',
        COMMAND_PRESETS.join(', '),
      ),
    );
  }
  return commandAgent({
    command: program,
    args: commandArgs.length > 0 ? commandArgs : (known?.args ?? []),
    promptVia: commandPrompt ?? known?.promptVia ?? 'stdin',
    removeApiKey: apiKey === 'remove',
  });
}
