import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { addSettingFlags, settingsOf } from '../../src/cli/settingFlags.ts';
import { resolveSettings } from '../../src/orchestrator/settings/settings.ts';
import {
  DEFAULT_SETTINGS,
  definitionOf,
  type GivenSettings,
  SETTING_NAMES,
  settingArguments,
} from '../../src/orchestrator/settings/settingTable.ts';
import { SETTINGS_SECTION } from '../../src/views/common/contributions.ts';
import {
  type FoundValues,
  givenInWindow,
  RUN_SETTINGS,
} from '../../src/views/settings/windowSettings.ts';
import { tempDir } from '../support/cleanEnv.ts';

const root = path.resolve(import.meta.dirname, '../..');

interface Property {
  readonly type: string | readonly string[];
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
  readonly enumItemLabels?: readonly string[];
  readonly default: unknown;
  readonly order: number;
  readonly scope: string;
  readonly markdownDescription: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

interface Group {
  readonly title: string;
  readonly order: number;
  readonly properties: Readonly<Record<string, Property>>;
}

describe('the settings in package.json', async () => {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const nls = JSON.parse(await readFile(path.join(root, 'package.nls.json'), 'utf8'));
  const groups: readonly Group[] = manifest.contributes.configuration;
  const all = groups.flatMap(({ properties }) => Object.entries(properties));
  const idOf = (name: string) => `${SETTINGS_SECTION}.${name}`;
  const property = (name: string): Property => {
    const found = all.find(([id]) => id === idOf(name))?.[1];
    assert.ok(found, name);
    return found;
  };
  const text = (key: string): string => nls[key.slice(1, -1)];

  test('are at most 30, in titled groups', () => {
    assert.ok(all.length <= 30, `${all.length}`);
    assert.ok(all.length > RUN_SETTINGS.length);
    assert.ok(groups.length >= 4);
    for (const [index, { title, order, properties }] of groups.entries()) {
      assert.ok(text(title));
      assert.equal(order, index + 1);
      assert.deepEqual(
        Object.values(properties).map(one => one.order),
        Object.values(properties).map((_, position) => position + 1),
      );
    }
  });

  test('match the table for runs and contributions.ts for the window', async () => {
    const source = await readFile(path.join(root, 'src/views/common/contributions.ts'), 'utf8');
    const { body } =
      /export interface Settings \{\n(?<body>[\s\S]*?)\n\}/.exec(source)?.groups ?? {};
    const ofWindow = [...(body ?? '').matchAll(/^ {2}readonly (\w+):/gm)].map(
      ([, key]) => key ?? '',
    );
    assert.ok(ofWindow.length > 0);
    assert.deepEqual(all.map(([id]) => id).sort(), [...RUN_SETTINGS, ...ofWindow].map(idOf).sort());
    assert.deepEqual(
      ofWindow.filter(name => (SETTING_NAMES as readonly string[]).includes(name)),
      [],
    );
  });

  test('say in one sentence when to change them', () => {
    for (const [
      id,
      { markdownDescription, enum: values, enumDescriptions, enumItemLabels },
    ] of all) {
      assert.match(text(markdownDescription), /\bChange it\b.*\b(?:when|whenever|for|in|to)\b/, id);
      assert.equal(enumDescriptions?.length, values?.length, id);
      for (const description of enumDescriptions ?? []) {
        assert.ok(text(description), `${id}: ${description}`);
      }
      if (values?.includes('')) {
        assert.equal(enumItemLabels?.length, values.length, id);
      }
    }
  });

  for (const name of RUN_SETTINGS) {
    test(`${name} has the values and the default of the table`, () => {
      const { kind } = definitionOf(name);
      const { default: fallback, enum: values, ...rest } = property(name);
      const ofTable = (DEFAULT_SETTINGS as GivenSettings)[name];
      const empty = [undefined, '', null];
      if (ofTable !== undefined) {
        assert.deepEqual(fallback, ofTable);
        assert.ok(kind.schema.safeParse(fallback).success);
      } else {
        assert.ok(
          empty.includes(fallback as string) || (Array.isArray(fallback) && !fallback.length),
        );
      }
      for (const value of (values ?? []).filter(one => one !== '')) {
        assert.ok(kind.schema.safeParse(value).success, value);
      }
      assert.equal(
        values !== undefined,
        !kind.schema.safeParse('no such value').success && isText(rest.type),
      );
      for (const [limit, inside] of [
        [rest.minimum, true],
        [rest.maximum, true],
        [rest.exclusiveMinimum, false],
      ] as const) {
        if (limit !== undefined) {
          assert.equal(kind.schema.safeParse(limit).success, inside);
        }
      }
      if (rest.minimum !== undefined) {
        assert.equal(kind.schema.safeParse(rest.minimum - 1).success, false);
      }
      if (rest.maximum !== undefined) {
        assert.equal(kind.schema.safeParse(rest.maximum + 1).success, false);
      }
    });
  }

  test('cannot be set by a workspace if only a person may set them', () => {
    for (const name of RUN_SETTINGS) {
      const isAlwaysPersonal = definitionOf(name).isPersonal?.(undefined) === true;
      assert.equal(property(name).scope, isAlwaysPersonal ? 'machine' : 'resource', name);
    }
  });

  test('are not taken from an untrusted workspace if they control a run', () => {
    const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.equal(supported, 'limited');
    assert.deepEqual([...restrictedConfigurations].sort(), RUN_SETTINGS.map(idOf).sort());
  });
});

function isText(type: Property['type']): boolean {
  return type === 'string';
}

describe('settings made in the window', () => {
  const nothing: FoundValues = { person: undefined, workspace: [undefined, undefined] };
  const find = (values: Readonly<Record<string, Partial<FoundValues>>>) =>
    givenInWindow(setting => ({ ...nothing, ...values[setting] }));

  test('give no flags if nothing is set, so that the settings files decide', () => {
    const { given, refused } = find({});
    assert.deepEqual(given, {});
    assert.deepEqual(refused, []);
    assert.deepEqual(settingArguments(given), []);
  });

  test('name a known command only where no other agent is chosen, since they would contradict as flags', () => {
    const preset = { preset: { person: 'amp' } };
    assert.deepEqual(find(preset).given, { preset: 'amp' });
    assert.deepEqual(find({ ...preset, agent: { person: 'claude' } }).given, { agent: 'claude' });
    const both = { ...preset, agent: { person: 'command' } };
    assert.deepEqual(find(both).given, { agent: 'command', preset: 'amp' });
  });

  test('prefer the more specific scope, and empty values count as unset', () => {
    const { given } = find({
      maxIterations: { person: 5, workspace: [7, 9] },
      model: { person: 'opus', workspace: ['', undefined] },
      verify: { person: [], workspace: [['npm test'], undefined] },
      budgetUsd: { person: null },
    });
    assert.deepEqual(given, { maxIterations: 9, model: 'opus', verify: ['npm test'] });
  });

  test('become flags, which override the files', () => {
    const { given } = find({
      agent: { person: 'claude' },
      verify: { workspace: [['npm test', 'npm run lint --  --max "a b"'], undefined] },
      allowedTools: { person: ['Read', 'Bash(git add, git commit)'] },
      reviewer: { workspace: [false, undefined] },
      budgetUsd: { person: 2.5 },
      claudePath: { person: '/opt/a b/claude' },
    });
    assert.deepEqual(settingArguments(given), [
      '--agent=claude',
      '--verify=npm test',
      '--verify=npm run lint --  --max "a b"',
      '--no-reviewer',
      '--budget=2.5',
      '--allowed-tools=Read',
      '--allowed-tools=Bash(git add, git commit)',
      '--claude-path=/opt/a b/claude',
    ]);
    assert.deepEqual(settingArguments({ reviewer: true }), ['--reviewer']);
  });

  test('of the wrong type are ignored and named, and the next scope counts', () => {
    const { given, refused } = find({
      maxIterations: { person: 5, workspace: ['many', undefined] },
      verify: { person: 'npm test' },
      model: { person: '--dangerous' },
      claudePath: { person: './claude' },
    });
    assert.deepEqual(given, { maxIterations: 5 });
    assert.deepEqual(
      refused.map(({ setting }) => setting),
      ['claudePath', 'model', 'verify', 'maxIterations'],
    );
    assert.ok(refused.every(({ expected }) => expected !== ''));
  });

  test('of a workspace cannot choose programs, lift permissions or change who pays', () => {
    const hostile = ['evil', 'codex', 'bypassPermissions', 'remove'];
    const { given, refused } = find({
      claudePath: { workspace: [hostile[0], undefined] },
      preset: { workspace: [undefined, hostile[1]] },
      permissionMode: { workspace: [hostile[2], 'auto'] },
      apiKey: { workspace: [hostile[3], undefined] },
    });
    assert.deepEqual(given, {});
    assert.equal(refused.length, 5);
    assert.deepEqual(find({ permissionMode: { person: 'bypassPermissions' } }).given, {
      permissionMode: 'bypassPermissions',
    });
  });

  test('use the smallest of several budgets', () => {
    const { given } = find({
      budgetUsd: { person: 5, workspace: [1_000, undefined] },
      iterationBudgetUsd: { person: 5, workspace: [undefined, 1] },
    });
    assert.deepEqual(given, { budgetUsd: 5, iterationBudgetUsd: 1 });
  });

  test('reach the run unchanged and override .omc/config.json', async () => {
    const set: Readonly<Record<string, unknown>> = {
      agent: 'claude',
      verify: ['npm test', 'a, "b" --c=d'],
      allowedTools: ['Read', 'Bash(git add, git commit)'],
      reviewer: false,
      maxIterations: 7,
      budgetUsd: 2.5,
      timeLimitMinutes: 0.5,
      onStuck: 'skip',
      claudePath: '/opt/a b/claude',
      permissionMode: 'bypassPermissions',
    };
    const { given, refused } = givenInWindow(setting => ({ ...nothing, person: set[setting] }));
    assert.deepEqual([given, refused], [set, []]);
    const command = addSettingFlags(new Command());
    command.parse(settingArguments(given), { from: 'user' });
    const flags = settingsOf(command);
    assert.deepEqual(flags, set);

    await using temp = await tempDir('window-settings-');
    await mkdir(path.join(temp.path, '.omc'));
    await writeFile(
      path.join(temp.path, '.omc', 'config.json'),
      '{ "maxIterations": 40, "reviewer": true, "verify": ["true"], "guard": "warn" }',
    );
    const settings = await resolveSettings({
      flags,
      workspace: temp.path,
      env: {},
      platform: process.platform,
    });
    assert.deepEqual(
      [settings.maxIterations, settings.reviewer, settings.verify, settings.guard],
      [7, false, set['verify'], 'warn'],
    );
  });
});
