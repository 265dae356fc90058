import { englishOf } from '../../base/say.ts';
import {
  definitionOf,
  type GivenSettings,
  type SettingName,
} from '../../orchestrator/settings/settingTable.ts';

/**
 * The settings of a run that the window offers, under the names that they have everywhere. The others exist only in
 * files and as flags; a test compares these with package.json.
 */
export const RUN_SETTINGS = [
  'agent',
  'claudePath',
  'preset',
  'model',
  'effort',
  'permissionMode',
  'allowedTools',
  'apiKey',
  'verify',
  'verifyTimeLimitMinutes',
  'reviewer',
  'reviewerModel',
  'guard',
  'maxIterations',
  'budgetUsd',
  'iterationBudgetUsd',
  'timeLimitMinutes',
  'idleLimitMinutes',
  'onLimit',
  'onStuck',
  'onQuestion',
  'branch',
  'lanes',
  'isolate',
  'landAs',
  'landBatch',
  'flakyChecks',
  'placeSetup',
] as const satisfies readonly SettingName[];

export type RunSetting = (typeof RUN_SETTINGS)[number];

/** VS Code's values of one setting; `undefined` if it is not set. */
export interface FoundValues {
  /** In the person's own settings, on this machine. */
  readonly person: unknown;
  /** In the files of the workspace, which come with the repository; lower precedence first. */
  readonly workspace: readonly unknown[];
}

export interface WindowSettings {
  readonly given: GivenSettings;
  /** Settings with an invalid value; `expected` describes valid ones, in English. */
  readonly refused: readonly { readonly setting: RunSetting; readonly expected: string }[];
}

/** The smallest of several budgets applies: a repository can lower a person's budget, but not raise it. */
const BUDGETS: readonly RunSetting[] = ['budgetUsd', 'iterationBudgetUsd'];

/**
 * The validated settings of the window. A repository cannot set what only a person may choose. Pure apart from
 * `find`.
 */
export function givenInWindow(find: (setting: RunSetting) => FoundValues): WindowSettings {
  const given: [RunSetting, unknown][] = [];
  const refused: { setting: RunSetting; expected: string }[] = [];
  for (const setting of RUN_SETTINGS) {
    const { kind, isPersonal } = definitionOf(setting);
    const found = find(setting);
    const places = [
      { values: [found.person], isOwn: true },
      { values: found.workspace, isOwn: false },
    ];
    const usable = places.flatMap(({ values, isOwn }) =>
      values.filter(isSet).flatMap(value => {
        const { success, data } = kind.schema.safeParse(value);
        if (!success || (!isOwn && isPersonal?.(data) === true)) {
          refused.push({ setting, expected: englishOf(kind.expected) });
          return [];
        }
        return [data];
      }),
    );
    if (usable.length > 0) {
      given.push([
        setting,
        BUDGETS.includes(setting) ? Math.min(...usable.map(Number)) : usable.at(-1),
      ]);
    }
  }
  const { preset, ...others } = Object.fromEntries(given) as GivenSettings;
  // It stays in the settings for when the agent is "command" again: as a flag, it would contradict another agent.
  const isUnused = others.agent !== undefined && others.agent !== 'command';
  return { given: preset === undefined || isUnused ? others : { ...others, preset }, refused };
}

/** The settings editor represents a missing value as an empty text, an empty list or `null`. */
function isSet(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0)
  );
}
