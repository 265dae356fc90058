import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HumanError } from '../../src/base/humanError.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { ownSettingsFile } from '../../src/orchestrator/settings/ownSettingsFile.ts';
import {
  agentOf,
  configOf,
  fallbackAgentOf,
  givenSettings,
  resolveSettings,
  unusedProgram,
} from '../../src/orchestrator/settings/settings.ts';
import { parseSettings } from '../../src/orchestrator/settings/settingsFile.ts';
import {
  DEFAULT_SETTINGS,
  flagName,
  type GivenSettings,
  SETTING_NAMES,
  type Settings,
} from '../../src/orchestrator/settings/settingTable.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

const platform = process.platform;

/** A workspace and a home with these files of settings. */
async function places(
  temp: TempDir,
  { workspace, own }: { readonly workspace?: string; readonly own?: string },
) {
  const folder = path.join(temp.path, 'workspace');
  const home = path.join(temp.path, 'home');
  const env = { HOME: home, APPDATA: path.join(home, 'AppData', 'Roaming') };
  const ownFile = ownSettingsFile(env, platform) ?? '';
  await mkdir(path.join(folder, '.omc'), { recursive: true });
  await mkdir(path.dirname(ownFile), { recursive: true });
  if (workspace !== undefined) {
    await writeFile(path.join(folder, '.omc', 'config.json'), workspace);
  }
  if (own !== undefined) {
    await writeFile(ownFile, own);
  }
  return {
    ownFile,
    resolve: (flags: GivenSettings = {}): Promise<Settings> =>
      resolveSettings({ flags, workspace: folder, env, platform }),
    given: (flags: GivenSettings = {}): Promise<GivenSettings> =>
      givenSettings({ flags, workspace: folder, env, platform }),
  };
}

const ofWorkspace = (text: string) =>
  parseSettings(text, '/w/.omc/config.json', {
    kind: 'workspace',
    ownFile: '/h/.config/ralph-fresh/config.json',
  });
const ofPerson = (text: string) => parseSettings(text, '/h/config.json', { kind: 'person' });

describe('sources of settings', () => {
  test('without files and flags the defaults apply', async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {});
    const settings = await resolve();
    sameValue(settings, DEFAULT_SETTINGS);
    sameValue(configOf(settings), DEFAULT_CONFIG);
  });

  test('flags override the workspace, which overrides the person, who overrides the defaults', async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {
      own: '{ "model": "mine", "effort": "high", "maxIterations": 7, "verify": ["make"] }',
      workspace: '{ "model": "theirs", "maxIterations": 8, "verify": [] }',
    });
    const settings = await resolve({ maxIterations: 9 });
    sameValue(
      [settings.maxIterations, settings.model, settings.effort, settings.verify],
      [9, 'theirs', 'high', []],
    );
    assert.equal(settings.maxTurnsPerIteration, 100);
  });

  test('an omitted option does not override anything', async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, { own: '{ "model": "mine" }' });
    assert.equal((await resolve({ model: undefined } as never)).model, 'mine');
  });

  test('the person has one file, located by the environment only', () => {
    assert.equal(
      ownSettingsFile({ HOME: '/home/p' }, 'linux'),
      '/home/p/.config/ralph-fresh/config.json',
    );
    assert.equal(
      ownSettingsFile({ HOME: '/home/p', XDG_CONFIG_HOME: '/x' }, 'darwin'),
      '/x/ralph-fresh/config.json',
    );
    assert.equal(
      ownSettingsFile({ HOME: '/home/p', XDG_CONFIG_HOME: 'relative' }, 'linux'),
      '/home/p/.config/ralph-fresh/config.json',
    );
    assert.equal(
      ownSettingsFile({ APPDATA: 'C:\\Users\\p\\AppData\\Roaming' }, 'win32'),
      'C:\\Users\\p\\AppData\\Roaming\\ralph-fresh\\config.json',
    );
    assert.equal(ownSettingsFile({}, 'linux'), undefined);
    assert.equal(ownSettingsFile({}, 'win32'), undefined);
  });

  test('an invalid settings file is reported, not ignored', async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {});
    const file = path.join(temp.path, 'workspace', '.omc', 'config.json');
    await mkdir(file);
    await assert.rejects(resolve(), /config\.json is not a regular file/);
  });

  test('a link in a repository is not followed', { skip: platform === 'win32' }, async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {});
    const elsewhere = path.join(temp.path, 'elsewhere.json');
    await writeFile(elsewhere, '{ "maxIterations": 3 }');
    await symlink(elsewhere, path.join(temp.path, 'workspace', '.omc', 'config.json'));
    await assert.rejects(resolve(), /is not a regular file/);
  });
});

describe('budgets', () => {
  test("a repository can lower a person's budget but never raise it", async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {
      own: '{ "budgetUsd": 5, "iterationBudgetUsd": 1 }',
      workspace: '{ "budgetUsd": 500, "iterationBudgetUsd": 0.5 }',
    });
    const settings = await resolve();
    sameValue([settings.budgetUsd, settings.iterationBudgetUsd], [5, 0.5]);
  });
});

describe('a settings file', () => {
  test('is JSON with comments, and each setting has a type', () => {
    sameValue(
      ofPerson(`{
        // who works
        "$schema": "https://example.com/x.json",
        "agent": "command", /* a program */ "commandArgs": ["-q", "{prompt}"],
        "verify": ["npm test", "npm run lint"],
        "reviewer": true,
        "budgetUsd": 2.5,
        "retryAttempts": 0,
        "permissionMode": "bypassPermissions",
      }`),
      {
        agent: 'command',
        commandArgs: ['-q', '{prompt}'],
        verify: ['npm test', 'npm run lint'],
        reviewer: true,
        budgetUsd: 2.5,
        retryAttempts: 0,
        permissionMode: 'bypassPermissions',
      },
    );
  });

  const wrong: readonly [string, string, RegExp][] = [
    [
      'an unknown key',
      '{\n  "agent": "demo",\n  "maxIteration": 3\n}',
      /line 3: .*"maxIteration".*"maxIterations"\?/,
    ],
    ["a flag's name", '{ "max-turns": 3 }', /line 1: .*Did you mean "maxTurnsPerIteration"\?/],
    ['a key like no setting', '{ "colour": 3 }', /There is no setting "colour"\. See docs/],
    [
      'a wrong kind of value',
      '{\n\n"maxIterations": "many" }',
      /line 3: "maxIterations" is "many"\. It must be a whole number from 1\./,
    ],
    [
      'no amount of money',
      '{ "budgetUsd": "abc" }',
      /"budgetUsd" is ".*\. It must be an amount of US dollars above 0, such as 5 or 2\.50\.$/,
    ],
    ['a number out of range', '{ "timeLimitMinutes": 0 }', /at most 35000\./],
    [
      'a word that is none of the choices',
      '{ "onStuck": "panic" }',
      /It must be one of "warn", "skip", "ask", "stop"\./,
    ],
    ['a text where a list belongs', '{ "verify": "npm test" }', /a list of commands/],
    ['a list with something else', '{ "verify": ["npm test", 3] }', /a list of commands/],
    ['null', '{ "model": null }', /"model" is null/],
    [
      'a name that would be an option',
      '{ "model": "--dangerously-skip-permissions" }',
      /does not begin with a dash/,
    ],
    ['a tool that would be an option', '{ "allowedTools": ["-x"] }', /a list of tools/],
    ['a null character', '{ "verify": ["a\\u0000b"] }', /a list of commands/],
    [
      'a command of which a terminal does not show all',
      '{ "verify": ["\\u001b]0;touch hidden;\\u0007 true"] }',
      /commands without control characters/,
    ],
    [
      'a command that reads otherwise than it runs',
      '{ "flakyChecks": ["a\\u202eb"] }',
      /without control/,
    ],
    ['a relative program', '{ "claudePath": "bin/claude" }', /is absolute/],
    [
      'a key that is given twice',
      '{ "agent": "demo",\n"agent": "sdk" }',
      /line 2: "agent" is already set on line 1/,
    ],
    ['a missing comma', '{ "agent": "demo"\n"model": "x" }', /line 2: A comma is missing/],
    ['no end', '{ "agent": "demo"', /line 1: /],
    ['an open text', '{ "agent": "demo', /line 1: /],
    ['nothing', '', /contains no settings/],
    ['no object', '[1]', /must be in braces/],
    ['a deep nest', '['.repeat(200_000), /nested more deeply/],
    ['something after the end', '{} {}', /end before this/],
  ];
  for (const [what, text, message] of wrong) {
    test(`${what} is refused with its location`, () => {
      assert.throws(
        () => ofPerson(text),
        (error: unknown) =>
          error instanceof HumanError &&
          error.message.startsWith('/h/config.json, line ') &&
          message.test(error.message),
      );
    });
  }

  test('is refused with the location if a workspace sets what only a person may set', () => {
    const values: GivenSettings = {
      skipPermissions: true,
      permissionMode: 'bypassPermissions',
      claudePath: 'claude',
      sdkPath: '/sdk',
      extraArgs: ['-x'],
      command: 'x',
      commandArgs: ['x'],
      commandPrompt: 'file',
      preset: 'codex',
      apiKey: 'remove',
    };
    const autoMode: [string, unknown] = ['permissionMode', 'auto'];
    for (const [setting, value] of [...Object.entries(values), autoMode]) {
      const text = `{\n  "agent": "demo",\n  ${JSON.stringify(setting)}: ${JSON.stringify(value)}\n}`;
      sameValue(ofPerson(text), { agent: 'demo', [setting]: value });
      assert.throws(
        () => ofWorkspace(text),
        (error: unknown) =>
          error instanceof HumanError &&
          error.message.startsWith('/w/.omc/config.json, line 3: ') &&
          error.message.includes(`"${setting}"`) &&
          error.message.includes(flagName(setting as keyof GivenSettings)) &&
          error.message.includes('/h/.config/ralph-fresh/config.json'),
      );
    }
    sameValue(ofWorkspace('{ "permissionMode": "acceptEdits" }'), {
      permissionMode: 'acceptEdits',
    });
  });

  test('throws nothing but a HumanError, whatever it contains', () => {
    const keys = fc.oneof(
      fc.constantFrom<string>(...SETTING_NAMES, '__proto__', 'toString'),
      fc.string(),
    );
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.dictionary(keys, fc.jsonValue()).map(value => JSON.stringify(value)),
      fc
        .dictionary(keys, fc.jsonValue())
        .chain(value => fc.nat().map(cut => JSON.stringify(value).slice(0, cut % 200))),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '//', '/*', '1', '\n', '\\'))
        .map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, isOwn) => {
        try {
          const settings = isOwn ? ofPerson(text) : ofWorkspace(text);
          assert.ok(Object.keys(settings).every(key => SETTING_NAMES.some(name => name === key)));
        } catch (error) {
          assert.ok(error instanceof HumanError, String(error));
          assert.doesNotMatch(error.message, /[\p{Cc}]/u);
        }
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        try {
          parseSettings(bytes, '/f', { kind: 'person' });
        } catch (error) {
          assert.ok(error instanceof HumanError, String(error));
        }
      }),
    );
  });
});

describe('resolved settings', () => {
  const settings = (more: GivenSettings): Settings => ({ ...DEFAULT_SETTINGS, ...more });
  const request = { cwd: process.cwd(), prompt: 'p', maxTurns: 5, env: { PATH: '' } };

  test('times are in ms for the loop, and unset settings are absent', () => {
    const config = configOf(
      settings({
        retryDelaySeconds: 0.5,
        limitRetryMinutes: 2,
        verifyTimeLimitMinutes: 3,
        timeLimitMinutes: 4,
        idleLimitMinutes: 0.01,
        budgetUsd: 5,
      }),
    );
    sameValue(
      [
        config.retryDelayMs,
        config.limitRetryMs,
        config.verifyTimeLimitMs,
        config.limits.hardMs,
        config.limits.idleMs,
        config.budgetUsd,
      ],
      [500, 120_000, 180_000, 240_000, 600, 5],
    );
    assert.equal(config.model, undefined);
  });

  test('each named agent is created', () => {
    for (const agent of ['claude', 'sdk', 'demo'] as const) {
      assert.equal(agentOf(settings({ agent })).id, agent);
    }
    assert.equal(agentOf(settings({ agent: 'command', preset: 'codex' })).id, 'command');
    assert.throws(() => agentOf(settings({ agent: 'command' })), /--preset \(codex, /);
  });

  test('the flags of Claude Code are passed to its command line', async () => {
    const { args } = await agentOf(
      settings({
        claudePath: process.execPath,
        effort: 'high',
        permissionMode: 'acceptEdits',
        allowedTools: ['Read', 'Bash(git *)'],
        extraArgs: ['--strict-mcp-config'],
      }),
    ).command(request);
    const line = args.join(' ');
    assert.match(line, /--effort high/);
    assert.match(line, /--permission-mode acceptEdits/);
    assert.match(line, /--allowedTools Read,Bash\(git \*\)/);
    assert.match(line, / --strict-mcp-config$/);
    assert.doesNotMatch(line, /dangerously/);
  });

  test('an API key is removed if the settings require it', async () => {
    const env = { PATH: '', ANTHROPIC_API_KEY: 'k' };
    const keyWith = async (apiKey: 'use' | 'remove') =>
      (
        await agentOf(settings({ claudePath: process.execPath, apiKey })).command({
          ...request,
          env,
        })
      ).env['ANTHROPIC_API_KEY'];
    sameValue([await keyWith('use'), await keyWith('remove')], ['k', undefined]);
  });

  test('custom command arguments replace those of its preset', async () => {
    const { args, file } = await agentOf(
      settings({
        agent: 'command',
        preset: 'gemini',
        command: process.execPath,
        commandArgs: ['--one'],
      }),
    ).command(request);
    sameValue([file, args], [process.execPath, ['--one']]);
  });

  test('a program named by a flag is used without the settings of another one', async () => {
    await using temp = await tempDir('settings-');
    const { resolve } = await places(temp, {
      own: '{ "agent": "claude", "command": "mine", "commandArgs": ["-x"] }',
    });
    const found = await resolve({ preset: 'amp' });
    sameValue(
      [found.agent, found.preset, found.command, found.commandArgs],
      ['command', 'amp', undefined, []],
    );
    assert.equal((await resolve({ preset: 'amp', agent: 'demo' })).agent, 'demo');
    assert.equal((await resolve({ agent: 'command' })).command, 'mine');
  });

  test('a program is told as unused where nobody has chosen another agent, or the flags contradict', async () => {
    await using temp = await tempDir('settings-');
    const { given } = await places(temp, { own: '{ "command": "mine" }' });
    const unused = async (flags: GivenSettings) => unusedProgram(await given(flags), flags);
    sameValue(await unused({}), { setting: 'command', name: 'mine' });
    const agreeing: readonly GivenSettings[] = [
      { agent: 'claude' },
      { preset: 'amp' },
      { agent: 'command', preset: 'amp' },
    ];
    for (const flags of agreeing) {
      assert.equal(await unused(flags), undefined, JSON.stringify(flags));
    }
    sameValue(await unused({ agent: 'demo', command: '/bin/mine' }), {
      ...{ setting: 'command', name: '/bin/mine', instead: 'demo' },
    });
    sameValue(await unused({ agent: 'sdk', preset: 'amp' }), {
      ...{ setting: 'preset', name: 'amp', instead: 'sdk' },
    });
  });

  test('the SDK is the fallback if it is installed', async () => {
    await using temp = await tempDir('settings-');
    const sdk = path.join(temp.path, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
    const place = { env: { HOME: temp.path, PATH: '' }, workspace: temp.path };
    await mkdir(sdk, { recursive: true });
    await writeFile(
      path.join(sdk, 'package.json'),
      '{ "name": "@anthropic-ai/claude-agent-sdk", "main": "sdk.mjs" }',
    );
    await writeFile(path.join(sdk, 'sdk.mjs'), '');
    assert.equal((await fallbackAgentOf(settings({}), place))?.id, 'sdk');
    assert.equal(await fallbackAgentOf(settings({ agent: 'demo' }), place), undefined);
    await assert.rejects(
      fallbackAgentOf(settings({ sdkPath: path.join(temp.path, 'nowhere') }), place),
      HumanError,
    );
  });
});

test('docs/settings.md names every setting with its flag and default', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../docs/settings.md'), 'utf8');
  const rows = page.split('\n').filter(line => /^\| `[a-z]/.test(line));
  const defaults: GivenSettings = DEFAULT_SETTINGS;
  for (const setting of SETTING_NAMES) {
    const row = rows.find(line => line.startsWith(`| \`${setting}\` |`));
    assert.ok(row, setting);
    assert.ok(row.includes(`\`${flagName(setting)}`), setting);
    const value = defaults[setting];
    if (typeof value === 'string' || typeof value === 'number') {
      assert.ok(row.includes(`| \`${value}\` |`), setting);
    }
  }
  assert.equal(rows.length, SETTING_NAMES.length);
});
