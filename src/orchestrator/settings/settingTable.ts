import path from 'node:path';
import * as z from 'zod';
import { type Message, say } from '../../base/say.ts';
import { withoutControls } from '../../base/text.ts';
import type { ClaudePermissionMode } from '../agents/claude/claude.ts';
import { COMMAND_PRESETS } from '../agents/command/commandPresets.ts';
import { MAX_LANES } from '../journal/eventCodes.ts';
import {
  BRANCH_MODES,
  DEFAULT_CONFIG,
  GITHUB_WHEN_DONE,
  GUARD_MODES,
  LAND_AS,
  MAX_BATCH,
  MAX_CONTEXT_TOKENS,
  ON_LIMIT,
  ON_QUESTION,
  ON_STUCK,
} from './config.ts';

/**
 * All settings of a run: one table for files, flags and documentation. The names are also those of the settings in
 * VS Code, below `ralphFresh`.
 */

/** The type of a setting's values, in a file and as the text of a flag. */
export interface Kind<T> {
  readonly schema: z.ZodType<T>;
  /** A description of valid values, as the end of "It must be …". */
  readonly expected: Message;
  /** Example values, as the end of "…, such as …". */
  readonly example?: Message;
  /** `list`: its flag may be repeated to add values; `switch`: its flag has no value. */
  readonly shape: 'value' | 'list' | 'switch';
  /** Converts the text of a flag to a value, which the schema then validates. */
  readonly fromText: (text: string) => unknown;
}

interface Definition {
  readonly kind: Kind<unknown>;
  /** In commander's syntax. */
  readonly flag: string;
  /**
   * Values that only a person may choose, with a flag or in their own file. A repository's file, which is used
   * without review, must not start other programs, disable protections or change who pays.
   */
  readonly isPersonal?: (value: unknown) => boolean;
  /** Personal values that only protect: a run remembers them and reuses them when it continues. */
  readonly isProtective?: (value: unknown) => boolean;
}

/** Longest text in a setting. */
const MAX_TEXT = 4_000;

function value<T>(schema: z.ZodType<T>, expected: Message): Kind<T> {
  return { schema, expected, shape: 'value', fromText: text => text };
}

function oneOf<const T extends readonly string[]>(names: T): Kind<T[number]> {
  return value(z.enum(names), say('one of "{0}"', names.join('", "')));
}

function number(schema: z.ZodType<number>, expected: Message): Kind<number> {
  return {
    ...value(schema, expected),
    fromText: text => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  };
}

function whole(min: number): Kind<number> {
  return number(z.int().min(min), say('a whole number from {0}', min));
}

function between(min: number, max: number): Kind<number> {
  return number(z.int().min(min).max(max), say('a whole number from {0} to {1}', min, max));
}

/** More agents would mostly wait: for the account, and for each other's checks. */
const laneCount = between(1, MAX_LANES);

const MAX_LINES = 100_000;

const contextSize = between(0, MAX_CONTEXT_TOKENS);

const lines = between(0, MAX_LINES);

const batchSize = between(1, MAX_BATCH);

/** A timer can wait at most 2^31-1 ms, about 35,000 minutes. */
const minutes = number(
  z.number().positive().max(35_000),
  say('a number of minutes above 0, at most 35000'),
);

const seconds = number(
  z.number().nonnegative().max(86_400),
  say('a number of seconds from 0, at most 86400'),
);

const usd: Kind<number> = {
  ...number(z.number().positive().max(1_000_000), say('an amount of US dollars above 0')),
  example: say('5 or 2.50'),
};

const onOff: Kind<boolean> = {
  ...value(z.boolean(), say('true or false')),
  shape: 'switch',
};

/** For an argument of a program: must not look like an option; no control characters. */
const nameSchema = z
  .string()
  .max(MAX_TEXT)
  .refine(text => text.trim() !== '' && !text.startsWith('-') && !hasControls(text));
const name = value(nameSchema, say('a name that does not begin with a dash'));

const phrase = value(
  z
    .string()
    .max(MAX_TEXT)
    .refine(text => text.trim() !== '' && !/[<>]/.test(text) && !hasControls(text)),
  say('one line of text without < and >'),
);

/** A relative path would be another program in each folder. */
const program = value(
  nameSchema.refine(text => !/[\\/]/.test(text) || isAnchored(text)),
  say("a program's name, or a path that is absolute or begins with ~/"),
);

/** Plain HTTP only to this machine: a token is sent there. */
const apiUrl = value(
  z
    .string()
    .max(MAX_TEXT)
    .refine(text =>
      /^https:\/\/[^/@\s]+|^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/|$)/.test(text),
    )
    .refine(text => URL.canParse(text)),
  say('the address of an API, such as https://github.example.com/api/v3'),
);

const folder = value(
  nameSchema.refine(isAnchored),
  say('a path that is absolute or begins with ~/'),
);

function list(
  schema: z.ZodType<string>,
  expected: Message,
  fromText: (text: string) => readonly string[],
): Kind<readonly string[]> {
  return { schema: z.array(schema).max(200), expected, shape: 'list', fromText };
}

const folders = list(
  nameSchema.refine(isAnchored),
  say('a list of paths that are absolute or begin with ~/, such as ["~/plans"]'),
  text => [text],
);

/** What a terminal does not show must not run: a person reads the command before they start. */
const commandSchema = z
  .string()
  .max(MAX_TEXT)
  .refine(text => text.trim() !== '' && withoutControls(text) === text);
const shellCommand = value(
  commandSchema,
  say('a command without control characters, such as "npm ci"'),
);
const shellCommands = list(
  commandSchema,
  say('a list of commands without control characters, such as ["npm test"]'),
  text => [text],
);

const programArguments = list(
  z
    .string()
    .max(MAX_TEXT)
    .refine(text => !text.includes('\0')),
  say('a list of arguments, such as ["--verbose"]'),
  text => [text],
);

const tools = list(nameSchema, say('a list of tools, such as ["Read", "Bash(git *)"]'), splitTools);

/** Splits at commas outside of brackets: `Read,Bash(git add, git commit)` has two items. */
function splitTools(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let current = '';
  for (const char of text) {
    depth = Math.max(0, depth + (char === '(' ? 1 : char === ')' ? -1 : 0));
    if (char === ',' && depth === 0) {
      found.push(current);
      current = '';
    } else {
      current += char;
    }
  }
  return [...found, current].map(tool => tool.trim()).filter(tool => tool !== '');
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

function isAnchored(text: string): boolean {
  return path.isAbsolute(text) || /^~[\\/]/.test(text);
}

export const AGENTS = ['claude', 'sdk', 'command', 'demo'] as const;

const PERMISSION_MODES = [
  'acceptEdits',
  'auto',
  'bypassPermissions',
  'dontAsk',
  'manual',
  'plan',
] as const satisfies readonly ClaudePermissionMode[];

const always = () => true;

/** Claude Code accepts neither of them from a repository's own settings. */
const WIDE_MODES: ReadonlySet<unknown> = new Set(['auto', 'bypassPermissions']);

const SETTINGS = {
  agent: { kind: oneOf(AGENTS), flag: '--agent <name>' },
  model: { kind: name, flag: '--model <name>' },
  fallbackModel: { kind: name, flag: '--fallback-model <name>' },
  effort: { kind: name, flag: '--effort <level>' },
  maxIterations: { kind: whole(1), flag: '--max-iterations <n>' },
  maxTurnsPerIteration: { kind: whole(1), flag: '--max-turns <n>' },
  completionPromise: { kind: phrase, flag: '--completion-promise <phrase>' },
  stuckThreshold: { kind: whole(1), flag: '--stuck-threshold <n>' },
  onStuck: { kind: oneOf(ON_STUCK), flag: '--on-stuck <action>' },
  onQuestion: { kind: oneOf(ON_QUESTION), flag: '--on-question <action>' },
  onLimit: { kind: oneOf(ON_LIMIT), flag: '--on-limit <action>' },
  limitRetryMinutes: { kind: minutes, flag: '--limit-retry <minutes>' },
  failThreshold: { kind: whole(1), flag: '--fail-threshold <n>' },
  retryAttempts: { kind: whole(0), flag: '--retry-attempts <n>' },
  retryDelaySeconds: { kind: seconds, flag: '--retry-delay <seconds>' },
  verify: { kind: shellCommands, flag: '--verify <command>' },
  verifyTimeLimitMinutes: { kind: minutes, flag: '--verify-time-limit <minutes>' },
  reviewer: { kind: onOff, flag: '--reviewer' },
  reviewerModel: { kind: name, flag: '--reviewer-model <name>' },
  guard: { kind: oneOf(GUARD_MODES), flag: '--guard <mode>' },
  branch: { kind: oneOf(BRANCH_MODES), flag: '--branch <mode>' },
  lanes: { kind: laneCount, flag: '--lanes <n>' },
  isolate: { kind: onOff, flag: '--isolate' },
  landAs: { kind: oneOf(LAND_AS), flag: '--land-as <form>' },
  landBatch: { kind: batchSize, flag: '--land-batch <n>' },
  flakyChecks: { kind: shellCommands, flag: '--flaky-check <command>' },
  contextTokens: { kind: contextSize, flag: '--context-tokens <n>' },
  acceptDiscovered: { kind: onOff, flag: '--accept-discovered' },
  compactAt: { kind: lines, flag: '--compact-at <lines>' },
  progressMaxLines: { kind: lines, flag: '--progress-max-lines <lines>' },
  placeSetup: { kind: shellCommand, flag: '--place-setup <command>' },
  timeLimitMinutes: { kind: minutes, flag: '--time-limit <minutes>' },
  idleLimitMinutes: { kind: minutes, flag: '--idle-limit <minutes>' },
  budgetUsd: { kind: usd, flag: '--budget <usd>' },
  iterationBudgetUsd: { kind: usd, flag: '--iteration-budget <usd>' },
  allowedTools: { kind: tools, flag: '--allowed-tools <list>' },
  permissionMode: {
    kind: oneOf(PERMISSION_MODES),
    flag: '--permission-mode <mode>',
    isPersonal: mode => WIDE_MODES.has(mode),
  },
  skipPermissions: { kind: onOff, flag: '--dangerously-skip-permissions', isPersonal: always },
  claudePath: { kind: program, flag: '--claude-path <path>', isPersonal: always },
  sdkPath: { kind: folder, flag: '--sdk-path <path>', isPersonal: always },
  extraArgs: { kind: programArguments, flag: '--extra-arg <arg>', isPersonal: always },
  command: { kind: program, flag: '--command <program>', isPersonal: always },
  commandArgs: { kind: programArguments, flag: '--command-arg <arg>', isPersonal: always },
  commandPrompt: {
    kind: oneOf(['stdin', 'file', 'argument']),
    flag: '--command-prompt <way>',
    isPersonal: always,
  },
  outsideLinks: { kind: folders, flag: '--outside-links <path>', isPersonal: always },
  preset: { kind: oneOf(COMMAND_PRESETS), flag: '--preset <name>', isPersonal: always },
  githubUrl: { kind: apiUrl, flag: '--github-url <url>', isPersonal: always },
  githubWhenDone: {
    kind: oneOf(GITHUB_WHEN_DONE),
    flag: '--github-when-done <what>',
    isPersonal: always,
  },
  githubOutsiders: { kind: onOff, flag: '--github-outsiders', isPersonal: always },
  apiKey: {
    kind: oneOf(['use', 'remove']),
    flag: '--api-key <what>',
    isPersonal: always,
    isProtective: what => what === 'remove',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/**
 * The settings used by a planner without a run: agent, time limits and budget. Its tools are fixed, and a usage
 * limit ends it.
 */
export const PLANNER_SETTINGS: readonly SettingName[] = [
  'agent',
  'model',
  'fallbackModel',
  'effort',
  'maxTurnsPerIteration',
  'retryAttempts',
  'retryDelaySeconds',
  'timeLimitMinutes',
  'idleLimitMinutes',
  'budgetUsd',
  'iterationBudgetUsd',
  'permissionMode',
  'skipPermissions',
  'claudePath',
  'sdkPath',
  'extraArgs',
  'command',
  'commandArgs',
  'commandPrompt',
  'preset',
  'outsideLinks',
  'apiKey',
];

/** The definition of a setting whose name is only known at run time. */
export function definitionOf(setting: SettingName): Definition {
  return SETTINGS[setting];
}

/** `--max-turns` of `--max-turns <n>`. */
export function flagName(setting: SettingName): string {
  return SETTINGS[setting].flag.split(' ', 1)[0] ?? '';
}

type ValueOf<N extends SettingName> =
  (typeof SETTINGS)[N]['kind'] extends Kind<infer T> ? T : never;

/** The settings from one source: a file, or the command line. */
export type GivenSettings = { readonly [N in SettingName]?: ValueOf<N> };

const { limits, limitRetryMs, retryDelayMs, verifyTimeLimitMs, ...sameInConfig } = DEFAULT_CONFIG;

export const DEFAULT_SETTINGS = {
  ...sameInConfig,
  agent: 'claude',
  limitRetryMinutes: limitRetryMs / 60_000,
  retryDelaySeconds: retryDelayMs / 1_000,
  verifyTimeLimitMinutes: verifyTimeLimitMs / 60_000,
  timeLimitMinutes: limits.hardMs / 60_000,
  idleLimitMinutes: limits.idleMs / 60_000,
  skipPermissions: false,
  extraArgs: [],
  commandArgs: [],
  githubUrl: 'https://api.github.com',
  githubWhenDone: 'comment',
  githubOutsiders: false,
  apiKey: 'use',
} as const satisfies GivenSettings;

/** The settings of a run; settings without a default may be absent. */
export type Settings = GivenSettings & Required<Pick<GivenSettings, keyof typeof DEFAULT_SETTINGS>>;

/**
 * Settings as flags of `ralph-fresh run`, one argument each. An empty list has no flag and is omitted.
 * @param names the settings that the command supports
 */
export function settingArguments(
  given: GivenSettings,
  names: readonly SettingName[] = SETTING_NAMES,
): string[] {
  return names.flatMap(setting => {
    const value: unknown = given[setting];
    const flag = flagName(setting);
    if (value === undefined) {
      return [];
    }
    if (definitionOf(setting).kind.shape === 'switch') {
      return value === true ? [flag] : hasNegation(setting) ? [`--no-${flag.slice(2)}`] : [];
    }
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map(one => `${flag}=${one}`);
  });
}

/** Only settings that a file can enable need a flag to disable them. */
function hasNegation(setting: SettingName): boolean {
  return setting === 'reviewer' || setting === 'isolate';
}
