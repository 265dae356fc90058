import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { agentEnv } from '../orchestrator/agents/agentEnv.ts';
import { claudeVersion, findClaude, homeOf } from '../orchestrator/agents/claude.ts';
import { commandPreset } from '../orchestrator/agents/commandPresets.ts';
import { findProgram } from '../orchestrator/agents/findProgram.ts';
import { findSdk } from '../orchestrator/agents/findSdk.ts';
import { proposeVerifyCommands } from '../orchestrator/gate/verifyProposals.ts';
import { GitRepository } from '../orchestrator/git/git.ts';
import { openGit } from '../orchestrator/git/openGit.ts';
import { HumanError } from '../orchestrator/humanError.ts';
import { activeOtherMode } from '../orchestrator/modes.ts';
import { deadPlans } from '../orchestrator/planner/planFolder.ts';
import { requirePlainState } from '../orchestrator/run/plainFile.ts';
import { newestRunId, type RunFiles } from '../orchestrator/run/runFiles.ts';
import { say } from '../orchestrator/say.ts';
import { resolveSettings } from '../orchestrator/settings/settings.ts';
import {
  DEFAULT_SETTINGS,
  type GivenSettings,
  type Settings,
} from '../orchestrator/settings/settingTable.ts';
import { readStoryProblems } from '../orchestrator/stories/diagnosis/readProblems.ts';
import { shorten } from '../orchestrator/text.ts';
import type { Finding } from '../presentation/doctorReport.ts';
import { livingLoop, readRun } from './loopEnd.ts';
import { saysActive } from './stateFile.ts';
import { storyFileOf } from './storyFiles.ts';

/** `engines.node` of package.json. */
const OLDEST_NODE = 20;
/** An agent with its tests needs some; the journal little. In bytes. */
const LITTLE_SPACE = 200 * 1024 * 1024;
const MAX_WORDS = 300;
const API_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const;
const PROVIDERS = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
] as const;
/** So many commands, problems or files are named. */
const MAX_NAMED = 3;

export interface Patient {
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
interface KnownPatient extends Patient {
  readonly settings: Settings;
}

/**
 * Looks at all that a run needs. Changes nothing, starts no program but `git` and `claude --version`, and
 * tells of the environment only which variables are set.
 */
export async function examine(patient: Patient): Promise<Finding[]> {
  const { only } = patient;
  const { settings, finding } = await readSettings(patient);
  const found = await Promise.all(
    CHECKS.filter(([id]) => only?.includes(id) ?? true).map(([id, check]) =>
      check({ ...patient, settings }).catch((error: unknown) => [
        wrong(
          id,
          shorten(say('{0} could not be looked at: {1}', id, String(error)), MAX_WORDS),
          null,
        ),
      ]),
    ),
  );
  return [...found.flat(), finding];
}

async function readSettings({
  env,
  files: { workspace },
  flags,
}: Patient): Promise<{ readonly settings: Settings; readonly finding: Finding }> {
  const { platform } = process;
  try {
    const settings = await resolveSettings({ flags, workspace, env, platform });
    return { settings, finding: good('settings', 'The files of settings can be used.') };
  } catch (error) {
    if (error instanceof HumanError) {
      return {
        settings: { ...DEFAULT_SETTINGS, ...flags },
        finding: wrong('settings', error.message, null),
      };
    }
    throw error;
  }
}

type Check = (patient: KnownPatient) => Promise<readonly Finding[]>;

/** In the order in which a person mends them. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ['node', async () => [node(process.versions.node)]],
  ['git', git],
  ['claude', claude],
  ['sdk', sdk],
  ['command', command],
  ['payer', async patient => [await withoutClaude(patient, payer(patient.env, patient.settings))]],
  ['stories', stories],
  ['otherModes', otherModes],
  ['leftovers', leftovers],
  ['state', state],
  ['verify', verify],
  ['disk', disk],
];

/** What {@link Patient.only} may name. */
export const CHECK_IDS: readonly string[] = CHECKS.map(([id]) => id);

/** @param version as of `process.versions` */
export function node(version: string): Finding {
  return Number.parseInt(version, 10) >= OLDEST_NODE
    ? good('node', `Node.js ${version}`)
    : wrong('node', `Node.js ${version} is too old.`, `Install version ${OLDEST_NODE} or newer.`);
}

async function git({ files }: Patient): Promise<readonly Finding[]> {
  const repository = new GitRepository(files.workspace);
  try {
    const root = await repository.root();
    if (root === undefined) {
      return [
        wrong(
          'git',
          `${files.workspace} is not in a git repository.`,
          'Run "git init" there and commit once.',
        ),
      ];
    }
    const version = (await openGit(files.workspace).raw('version')).replace('git version', '');
    const head = await repository.head();
    return [
      head === undefined
        ? warn(
            'git',
            'The repository has no commit yet.',
            'Commit once, so that there is a state to go back to.',
          )
        : good('git', `git ${version.trim()}, repository ${root}`),
    ];
  } catch (error) {
    if (error instanceof HumanError) {
      return [wrong('git', error.message, null)];
    }
    throw error;
  }
}

async function claude({ env, settings }: KnownPatient): Promise<readonly Finding[]> {
  const found = await claudeVersion(settings, env);
  const { file } = found;
  const { agent } = settings;
  if ('version' in found) {
    return [
      { ...good('claude', `Claude Code ${found.version}, ${file}`), facts: { agent, ...found } },
    ];
  }
  const mend = file === undefined ? null : 'Install it again, or name another one.';
  return [
    agent === 'claude'
      ? { ...wrong('claude', found.problem, mend), facts: { agent, ...(file && { file }) } }
      : {
          ...good('claude', `No Claude Code that can be used; the agent "${agent}" needs none.`),
          facts: { agent },
        },
  ];
}

async function sdk({ env, files, settings }: KnownPatient): Promise<readonly Finding[]> {
  const clean = agentEnv(env);
  const { agent, sdkPath } = settings;
  try {
    const file = await findSdk({ sdkPath, cwd: files.workspace, env: clean, home: homeOf(clean) });
    return [{ ...good('sdk', `Claude Agent SDK, ${file}`), facts: { file } }];
  } catch (error) {
    if (!(error instanceof HumanError)) {
      throw error;
    }
    return [
      agent === 'sdk' || sdkPath !== undefined
        ? wrong('sdk', error.message, null)
        : good('sdk', 'No Claude Agent SDK; only the agent "sdk" would need it.'),
    ];
  }
}

/** The program of the agent "command", where that is chosen. */
async function command({ env, settings }: KnownPatient): Promise<readonly Finding[]> {
  if (settings.agent !== 'command') {
    return [];
  }
  const { command: named, preset, skipPermissions } = settings;
  const name = named ?? (preset && commandPreset(preset, { skipPermissions }).command);
  if (name === undefined) {
    return [
      wrong(
        'command',
        'The agent "command" has no program.',
        'Name one with --command or --preset.',
      ),
    ];
  }
  const clean = agentEnv(env);
  try {
    const file = await findProgram(name, {
      setting: name,
      settingName: 'command (--command)',
      env: clean,
      home: homeOf(clean),
      platform: process.platform,
    });
    return [good('command', `The agent is ${file}`)];
  } catch (error) {
    if (error instanceof HumanError) {
      return [wrong('command', error.message, null)];
    }
    throw error;
  }
}

/**
 * Which account the agents' work is billed to.
 * @param env never shown; only the names of what is set
 */
function payer(
  env: Patient['env'],
  { agent, apiKey }: Pick<Settings, 'agent' | 'apiKey'>,
): Finding {
  if (agent === 'demo') {
    return {
      ...good('payer', 'Nobody pays: the demo agent costs nothing.'),
      facts: { payer: 'none' },
    };
  }
  if (agent === 'command') {
    return good('payer', 'Who pays for the agent "command" is settled by its own program.');
  }
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const provider = PROVIDERS.find(isSet);
  if (provider !== undefined) {
    return {
      ...warn(
        'payer',
        `A cloud account pays: ${provider} is set.`,
        'Unset it when you did not mean that.',
      ),
      facts: { payer: 'cloud', variable: provider },
    };
  }
  const key = API_KEYS.find(isSet);
  const login = 'The account that is logged in with Claude Code pays';
  if (key === undefined) {
    return { ...good('payer', `${login}; no API key is set.`), facts: { payer: 'login' } };
  }
  return apiKey === 'remove'
    ? {
        ...good('payer', `${login}; ${key} is kept from the agents.`),
        facts: { payer: 'login', variable: key },
      }
    : {
        ...warn(
          'payer',
          `The API account pays, for each token: ${key} is set.`,
          'To use the subscription that is logged in, unset it or run with --api-key remove.',
        ),
        facts: { payer: 'apiKey', variable: key },
      };
}

/** Nobody is known to be logged in with a Claude Code that is not there; what the environment says still holds. */
async function withoutClaude({ env, settings }: KnownPatient, found: Finding): Promise<Finding> {
  if (settings.agent !== 'claude' || found.facts?.['payer'] !== 'login') {
    return found;
  }
  const file = await findClaude(settings.claudePath, agentEnv(env)).catch((error: unknown) => {
    if (error instanceof HumanError) {
      return undefined;
    }
    throw error;
  });
  return file === undefined
    ? {
        ...found,
        level: 'warning',
        message: 'Who pays is not known yet, since Claude Code was not found.',
      }
    : found;
}

async function stories({ files, storyFile: named }: Patient): Promise<readonly Finding[]> {
  const file = await storyFileOf(files, named);
  if (file === undefined) {
    return [
      warn(
        'stories',
        'No story file was found.',
        'Write .omc/prd.json (docs/story-files.md), name yours with --file, or give "ralph-fresh run" a task.',
      ),
    ];
  }
  try {
    const { file: list, problems: found } = await readStoryProblems(file);
    // Hints are no reason to worry; "ralph-fresh stories" has them.
    const problems = found
      .filter(({ severity }) => severity !== 'info')
      .map(({ line, message }) => `Line ${line}: ${message}`);
    if (list.kind === 'invalid') {
      return [wrong('stories', `${file}: ${problems[0] ?? ''}`, null)];
    }
    const done = list.stories.filter(story => story.done).length;
    const facts = `${file}: ${done} of ${list.stories.length} stories complete`;
    if (list.stories.length === 0) {
      return [wrong('stories', `${file} holds no stories yet.`, 'Add at least one.')];
    }
    return [
      problems.length === 0
        ? good('stories', facts)
        : warn('stories', `${facts}. ${some(problems, ' ')}`, null),
    ];
  } catch (error) {
    if (error instanceof HumanError) {
      return [wrong('stories', error.message, null)];
    }
    throw error;
  }
}

async function otherModes({ files }: Patient): Promise<readonly Finding[]> {
  const other = await activeOtherMode(files);
  return [
    other === undefined
      ? good('otherModes', 'No other mode of oh-my-claudecode is active here.')
      : wrong(
          'otherModes',
          `The mode "${other.mode}" of oh-my-claudecode is active here.`,
          `Cancel it with /oh-my-claudecode:cancel, or remove ${other.file} if it is left over.`,
        ),
  ];
}

/** What a planner that was killed has left; else what a loop has. */
async function leftovers(patient: Patient): Promise<readonly Finding[]> {
  const plans = await deadPlans(patient.files);
  return plans.length === 0
    ? loopLeftovers(patient)
    : [
        ...(await loopLeftovers(patient)).filter(({ level }) => level !== 'ok'),
        warn(
          'leftovers',
          'A planner was killed; its agent may still be reading here.',
          'The next "ralph-fresh plan", "split" or "run" ends it, and "ralph-fresh stop" does at once.',
        ),
      ];
}

async function loopLeftovers({ files }: Patient): Promise<readonly Finding[]> {
  const loop = await livingLoop(files);
  if (loop) {
    return [good('leftovers', `A run is going on here (process ${loop.pid}).`)];
  }
  const runId = await newestRunId(files);
  const run = runId === undefined ? undefined : await readRun(files, runId);
  if (run?.phase === 'running' || run?.phase === 'stopping') {
    return [
      warn(
        'leftovers',
        `The loop of run ${runId} was killed in iteration ${run.iteration}.`,
        '"ralph-fresh stop" ends what it left running; "ralph-fresh run --resume" goes on.',
      ),
    ];
  }
  const left = [
    ...(existsSync(files.lockFile) ? [files.lockFile] : []),
    ...((await saysActive(files)) ? [files.stateFile] : []),
  ];
  return [
    left.length === 0
      ? good('leftovers', 'No loop works here, and none has left anything.')
      : warn(
          'leftovers',
          `A loop that is dead has left ${left.join(' and ')}.`,
          '"ralph-fresh cancel" clears the state; the next run takes over the lock.',
        ),
  ];
}

/** Whether the state can be written, and git does not see it. */
async function state({ files }: Patient): Promise<readonly Finding[]> {
  try {
    requirePlainState(files);
    await access(existsSync(files.stateDir) ? files.stateDir : files.workspace, constants.W_OK);
  } catch (error) {
    return [
      error instanceof HumanError
        ? wrong('state', error.message, null)
        : wrong('state', `${files.stateDir} cannot be written.`, 'Give yourself the permission.'),
    ];
  }
  const tracked = await trackedState(files);
  return [
    tracked.length === 0
      ? good('state', `The state goes to ${files.stateDir}; git does not see it.`)
      : warn(
          'state',
          `git tracks files of the state: ${some(tracked, ', ')}.`,
          'Take them out: git rm -r --cached .omc/state, then commit.',
        ),
  ];
}

/** Outside a repository nothing is tracked; that git is wrong is told by its own check. */
async function trackedState(files: RunFiles): Promise<string[]> {
  const output = await openGit(files.workspace)
    .raw('--no-optional-locks', 'ls-files', '-z', '--', '.omc/state')
    .catch(() => '');
  return output.split('\0').filter(file => file !== '');
}

async function verify({ files, settings }: KnownPatient): Promise<readonly Finding[]> {
  if (settings.verify.length > 0) {
    return [
      good('verify', `What must succeed before a story is done: ${some(settings.verify, ', ')}`),
    ];
  }
  const commands = (await proposeVerifyCommands(files.workspace)).map(({ command }) => command);
  return [
    commands.length === 0
      ? warn(
          'verify',
          'No checks are set, and none of this project were found.',
          'Name yours with --verify, else what agents claim is believed.',
        )
      : warn(
          'verify',
          'No checks are set, so what agents claim is believed.',
          `This project seems to have: ${some(commands, ', ')} (--verify).`,
        ),
  ];
}

async function disk({ files }: Patient): Promise<readonly Finding[]> {
  const { bavail, bsize } = await statfs(files.workspace);
  const free = bavail * bsize;
  const words = `${(free / 1024 ** 3).toFixed(1)} GB free on the disk of the workspace`;
  return [
    free < LITTLE_SPACE
      ? warn(
          'disk',
          `${Math.floor(free / 1024 ** 2)} MB free on the disk of the workspace.`,
          'Make room.',
        )
      : good('disk', words),
  ];
}

function some(words: readonly string[], separator: string): string {
  const named = words.slice(0, MAX_NAMED).map(word => shorten(word, MAX_WORDS));
  const more = words.length - named.length;
  return named.join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}

function good(id: string, message: string): Finding {
  return { id, level: 'ok', message, mend: null };
}

function warn(id: string, message: string, mend: string | null): Finding {
  return { id, level: 'warning', message, mend };
}

/** Many messages name their mend themselves. */
function wrong(id: string, message: string, mend: string | null): Finding {
  return { id, level: 'error', message, mend };
}
