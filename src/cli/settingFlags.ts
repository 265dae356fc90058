import path from 'node:path';
import { Command, Option } from 'commander';
import { type Message, say } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import {
  DEFAULT_SETTINGS,
  definitionOf,
  flagName,
  type GivenSettings,
  PLANNER_SETTINGS,
  SETTING_NAMES,
  type SettingName,
} from '../orchestrator/settings/settingTable.ts';

const DESCRIPTIONS: Readonly<Record<SettingName, string>> = {
  agent: 'who does the work: claude, sdk, command or demo',
  model: "model of the agent; default: the agent's own",
  fallbackModel: 'model to use when the first one is overloaded or unavailable',
  effort: 'how hard the model thinks; a value that the agent knows',
  maxIterations: 'maximum number of iterations',
  maxTurnsPerIteration: 'maximum number of turns of one agent',
  completionPromise: 'what the agent says in <promise> tags when everything is done',
  stuckThreshold: 'iterations without progress before the agent is warned',
  onStuck: 'what to do when the warning did not help: warn, skip, ask or stop',
  onQuestion: 'what to do when an agent has a question for you: end or wait',
  onLimit: 'what to do when the usage limit is reached: wait or stop',
  limitRetryMinutes: 'wait before the next try if the end of a usage limit is unknown',
  failThreshold: 'failures in a row before a story is skipped',
  retryAttempts: 'how often a call is repeated after a temporary API error',
  retryDelaySeconds: 'wait before the first retry; doubled for each further one',
  verify: 'command that must pass before a story counts as done; can be given several times',
  verifyTimeLimitMinutes: 'time limit of one check',
  reviewer: 'let a fresh agent review each story',
  reviewerModel: 'model of the reviewer',
  guard: 'what to do when an agent changes stories other than its own: restore, warn or off',
  branch: 'what to do about the branch that the story file names: checkout or stay',
  lanes: 'how many agents work at once, each in a clone of its own',
  isolate: 'let the agent work in a clone of its own, also if there is only one',
  landAs: 'how the commits of a story land on the branch: merge or squash',
  landBatch: 'how many stories are stacked and checked once; a red stack is halved',
  flakyChecks: 'check that is repeated once when it fails; can be given several times',
  contextTokens: 'most tokens of the prompt that tell where to look in the code; 0 for none',
  acceptDiscovered: 'turn new work that agents report into stories without asking',
  compactAt: 'lines of progress.txt from which the run condenses it; 0 for never',
  progressMaxLines: 'most lines of progress.txt after that',
  placeSetup: 'command that installs the dependencies in such a clone',
  timeLimitMinutes: 'time limit of one agent',
  idleLimitMinutes: 'how long an agent may print nothing',
  budgetUsd: 'what the run may cost, in US dollars',
  iterationBudgetUsd: 'what one iteration may cost, in US dollars',
  allowedTools: 'tools that the agent may use without asking, separated by commas',
  permissionMode: 'permission mode of Claude Code, such as acceptEdits or plan',
  skipPermissions: 'let the agent do everything; use only in a container',
  claudePath: 'path of claude; default: searched for on PATH and in the usual places',
  sdkPath: 'path of the Claude Agent SDK; default: searched for in the usual places',
  extraArgs: 'an additional argument for claude; can be given several times',
  command: 'program of the agent "command"',
  commandArgs: 'an argument for it; can be given several times',
  commandPrompt: 'how it gets the prompt: stdin, file or argument',
  outsideLinks: 'links may point here, outside the repository; can be given several times',
  preset: 'a known command: codex, gemini, amp or opencode',
  githubUrl: 'address of the API of a GitHub server of your own',
  githubWhenDone: 'what to do with an issue on GitHub when it is done: comment, close or nothing',
  githubOutsiders: 'let agents read issues of people who are not members or collaborators',
  apiKey: 'API key in the environment: use or remove',
};

/** These agents cannot plan; the planner explains that better than an unknown flag would. */
const OTHER_PROGRAMS: readonly SettingName[] = [
  'command',
  'commandArgs',
  'commandPrompt',
  'preset',
];

/** What only runs with stories can have. */
const STORY_SETTINGS: readonly SettingName[] = [
  'branch',
  'lanes',
  'isolate',
  'landAs',
  'landBatch',
  'placeSetup',
  'acceptDiscovered',
  'githubUrl',
  'githubWhenDone',
  'githubOutsiders',
];

/** Resolves a value as the shell would here: the loop may run in another folder. */
const AS_MEANT_HERE: { readonly [N in SettingName]?: (text: string) => string } = {
  claudePath: absoluteProgram,
  command: absoluteProgram,
  sdkPath: absolutePath,
  outsideLinks: absolutePath,
};

/** Adds one flag per setting. None has a default here: settings that are not given come from the files. */
export function addSettingFlags(command: Command, defaults: GivenSettings = {}): Command {
  const all: GivenSettings = { ...DEFAULT_SETTINGS, ...defaults };
  for (const setting of SETTING_NAMES) {
    const { flag, kind } = definitionOf(setting);
    const option = new Option(flag, `${DESCRIPTIONS[setting]}${inBrackets(all[setting])}`);
    if (kind.shape !== 'switch') {
      option.argParser((text: string, before: unknown) => read(setting, text, before));
    }
    command.addOption(option);
    if (setting === 'reviewer') {
      command.addOption(
        new Option('--no-reviewer', 'no reviewer, even if the settings files ask for one'),
      );
    }
  }
  return command;
}

/** The flags of some settings, for a command that has no others. */
export function settingOptions(names: readonly SettingName[]): readonly Option[] {
  const all = addSettingFlags(new Command()).options;
  const wanted = new Set(names.map(attributeOf));
  return all.filter(option => wanted.has(option.attributeName()));
}

/** Leaves the flags that only runs with stories can have out of the help of a command that has none. */
export function hideStoryFlags(command: Command): void {
  const names = new Set(STORY_SETTINGS.map(attributeOf));
  for (const option of command.options) {
    if (names.has(option.attributeName())) {
      option.hideHelp();
    }
  }
}

/**
 * Adds the flags of a planner that starts no run. Flags that only affect a run are rejected: they would have no
 * effect.
 * @param does what its agent does, for the help
 */
export function addPlannerFlags(command: Command, does: string): Command {
  addSettingFlags(command);
  const used = new Set(PLANNER_SETTINGS.map(attributeOf));
  const refused = new Set(SETTING_NAMES.map(attributeOf).filter(key => !used.has(key)));
  const options = command.options.filter(option => refused.has(option.attributeName()));
  const ofOtherPrograms = new Set(OTHER_PROGRAMS.map(attributeOf));
  for (const option of command.options) {
    const key = option.attributeName();
    if (refused.has(key) || ofOtherPrograms.has(key)) {
      option.hideHelp();
    }
    if (key === attributeOf('agent')) {
      option.description = `who ${does}: claude, sdk or demo${inBrackets(DEFAULT_SETTINGS.agent)}`;
    }
  }
  return command.hook('preAction', () => {
    const given = options.find(
      option => command.getOptionValueSource(option.attributeName()) === 'cli',
    );
    if (given !== undefined) {
      throw new UsageError(
        say(
          '{0} controls a run, and "{1}" starts none. Leave it out, and pass it to "ralph-fresh run" later.',
          given.long ?? '',
          command.name(),
        ),
      );
    }
  });
}

/** The settings given on the command line. */
export function settingsOf(command: Command): GivenSettings {
  return Object.fromEntries(
    SETTING_NAMES.flatMap(setting => {
      const key = attributeOf(setting);
      return command.getOptionValueSource(key) === 'cli'
        ? [[setting, command.getOptionValue(key)]]
        : [];
    }),
  );
}

/**
 * All given flags, as arguments for the same command elsewhere. Values are already parsed, so paths are absolute.
 * @param except attribute names (`runId` of `--run-id`)
 */
export function givenFlags(command: Command, except: readonly string[]): string[] {
  return command.options.flatMap(option => {
    const key = option.attributeName();
    const isGiven = command.getOptionValueSource(key) === 'cli' && !except.includes(key);
    return isGiven ? asArguments(option, command.getOptionValue(key)) : [];
  });
}

function asArguments(option: Option, value: unknown): string[] {
  const flag = option.long ?? '';
  if (typeof value === 'boolean') {
    // `--reviewer` and `--no-reviewer` share one value.
    return value === option.negate ? [] : [flag];
  }
  if (option.negate) {
    return [];
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.map(one => `${flag}=${one}`);
}

function read(setting: SettingName, text: string, before: unknown): unknown {
  const { kind } = definitionOf(setting);
  const found = kind.fromText(AS_MEANT_HERE[setting]?.(text) ?? text);
  const value =
    kind.shape === 'list' && Array.isArray(found)
      ? [...(Array.isArray(before) ? before : []), ...found]
      : found;
  const parsed = kind.schema.safeParse(value);
  if (!parsed.success) {
    const [flag, found, expected] = [
      flagName(setting),
      `"${shorten(text, 100)}"`,
      expectedOf(setting),
    ];
    throw new UsageError(
      kind.example === undefined
        ? say('"{0}" is {1}. It must be {2}.', flag, found, expected)
        : say('"{0}" is {1}. It must be {2}, such as {3}.', flag, found, expected, kind.example),
    );
  }
  return parsed.data;
}

/** A flag of a list setting gives one item. */
function expectedOf(setting: SettingName): Message {
  const { kind } = definitionOf(setting);
  if (kind.shape !== 'list') {
    return kind.expected;
  }
  return setting === 'allowedTools' ? say('a list such as Read,Edit,Bash(git *)') : say('a text');
}

/** A bare name is looked up in the PATH. */
function absoluteProgram(program: string): string {
  return /[\\/]/.test(program) ? absolutePath(program) : program;
}

/** A shell does not expand `~` in `--flag=~/…`. */
function absolutePath(place: string): string {
  return place === '' || /^~[\\/]/.test(place) ? place : path.resolve(place);
}

function attributeOf(setting: SettingName): string {
  return new Option(flagName(setting)).attributeName();
}

function inBrackets(value: unknown): string {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    ? ''
    : ` (default: ${value})`;
}
