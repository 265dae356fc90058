import { posix } from 'node:path';
import { parse } from 'yaml';
import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { CONFIGS, type FolderPart, offsetOfBytes } from './folderText.ts';
import { plainText } from './plainText.ts';
import { isEntry } from './prdEntry.ts';
import { isDoneWord } from './prdKeys.ts';
import type { TextLines } from './textLines.ts';

/** As the tool has them if its settings name none. */
const USUAL_STATUSES = ['To Do', 'In Progress', 'Done'];

/** What the settings of a backlog say about its tasks. */
export interface BacklogSettings {
  readonly project: string;
  readonly statuses: readonly string[];
  readonly doneStatus: string;
  readonly openStatus: string;
  readonly prefix: string;
  /** Digits of the number in a new id, at least. */
  readonly digits: number;
}

/** Settings that cannot be read are as if there were none; {@link settingsProblems} says so. */
export function readSettings(text: string, parts: readonly FolderPart[]): BacklogSettings {
  const part = settingsPart(parts);
  const values = (part && yamlOf(text.slice(part.start, part.end))) ?? {};
  const named = values['statuses'];
  const statuses = (Array.isArray(named) ? named : []).filter(
    (status): status is string => typeof status === 'string' && status.trim() !== '',
  );
  const all = statuses.length === 0 ? USUAL_STATUSES : statuses;
  const doneStatus = all.findLast(isDoneWord) ?? all.at(-1) ?? 'Done';
  const isOpen = (status: unknown): status is string =>
    typeof status === 'string' && all.includes(status) && status !== doneStatus;
  const usual = values['default_status'];
  return {
    project: textIn(values['project_name']),
    statuses: all,
    doneStatus,
    openStatus: isOpen(usual) ? usual : (all.find(isOpen) ?? 'To Do'),
    prefix: prefixIn(values['task_prefix']),
    digits: digitsIn(values['zero_padded_ids']),
  };
}

/** Whether a task with this status is done. A word for done that is no status of the backlog says nothing there. */
export function isDoneStatus(
  status: string,
  { doneStatus, statuses }: Pick<BacklogSettings, 'doneStatus' | 'statuses'>,
): boolean {
  const isSame = (other: string) => other.toLowerCase() === status.toLowerCase();
  return isSame(doneStatus) || (isDoneWord(status) && statuses.some(isSame));
}

/**
 * The folder that the settings next to it name as the one with the tasks, from there, such as `tracker` or `docs/backlog`.
 * @param text of `backlog.config.yml`
 */
export function namedFolder(text: string): string | undefined {
  const values = yamlOf(text) ?? {};
  const written = textIn(values['backlog_directory']) || textIn(values['backlogDirectory']);
  const named = posix.normalize(written.replaceAll('\\', '/'));
  const folder = named.replace(/\/$/, '');
  return folder === '.' || /^(?:\/|\.\.(?:\/|$))/.test(folder) ? undefined : folder;
}

function settingsPart(parts: readonly FolderPart[]): FolderPart | undefined {
  const found = CONFIGS.map(config =>
    parts.find(({ kind, name }) => kind === 'file' && name === config),
  );
  return found.find(one => one !== undefined);
}

/**
 * What can be read of settings; `undefined` if nothing can.
 * @param isStrict nothing is read of a text with an error
 */
function yamlOf(text: string, isStrict = false): Readonly<Record<string, unknown>> | undefined {
  try {
    const root: unknown = parse(text, { logLevel: isStrict ? 'error' : 'silent' }) ?? {};
    return isEntry(root) ? (root as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** What prevents the settings from being read: the usual statuses may be wrong for these tasks. */
export function settingsProblems(
  text: string,
  parts: readonly FolderPart[],
  lines: TextLines,
): StoryProblem[] {
  const part = settingsPart(parts);
  const isBroken =
    part !== undefined && yamlOf(text.slice(part.start, part.end), true) === undefined;
  const statuses = readSettings(text, parts).statuses.map(plainText).join(', ');
  return [
    ...parts
      .filter(({ kind, name }) => kind === 'unread' && isSettings(name))
      .map(({ name, start }) => ({
        code: 'invalidYaml' as const,
        message: say(
          '{0} is not read: it is a link or something else that is not a file. These statuses count: {1}. Put the file itself there.',
          plainText(name),
          statuses,
        ),
        ...lines.at(start),
      })),
    ...parts
      .filter(({ kind, name }) => kind === 'bytes' && isSettings(name))
      .map(bytes => ({
        code: 'invalidYaml' as const,
        message: say(
          '{0} is not UTF-8 text from here on, so these statuses count: {1}. Save it with the encoding UTF-8.',
          plainText(bytes.name),
          statuses,
        ),
        ...lines.at(offsetOfBytes(text, bytes)),
      })),
    ...(isBroken ? [part] : []).map(({ name, start }) => ({
      code: 'invalidYaml' as const,
      message: say(
        '{0} is not valid YAML with keys, so these statuses count: {1}. Correct the file if they are others.',
        plainText(name),
        statuses,
      ),
      ...lines.at(start),
    })),
  ];
}

/** The tool only allows letters. */
function prefixIn(value: unknown): string {
  const prefix = textIn(value);
  return /^[A-Za-z]+$/.test(prefix) ? prefix : 'task';
}

function digitsIn(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < 10 ? Math.floor(value) : 1;
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function isSettings(name: string): boolean {
  return CONFIGS.some(config => config === name);
}
