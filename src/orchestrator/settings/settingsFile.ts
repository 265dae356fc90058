import { lstat, readFile, stat } from 'node:fs/promises';
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { editDistance } from '../../base/editDistance.ts';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { TextLines } from '../stories/formats/textLines.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import {
  definitionOf,
  flagName,
  type GivenSettings,
  SETTING_NAMES,
  type SettingName,
} from './settingTable.ts';

/** The owner of the file. A workspace's file comes with the repository, so some settings are not allowed in it. */
export type SettingsOwner =
  | { readonly kind: 'person' }
  /** `ownFile`: the path of the person's own settings. */
  | { readonly kind: 'workspace'; readonly ownFile?: string | undefined };

const MAX_BYTES = 256 * 1024;
/** Settings have two levels; the limit protects the parser's stack. */
const MAX_DEPTH = 20;
/** Keys added by editors and people that have no meaning here. */
const IGNORED_KEYS: ReadonlySet<string> = new Set(['$schema']);

/**
 * Reads a settings file: JSON with comments.
 *
 * @returns no settings if there is no file
 * @throws {HumanError} with the file, the line and how to fix it
 */
export async function readSettingsFile(file: string, owner: SettingsOwner): Promise<GivenSettings> {
  const bytes = await settingsContent(file, owner);
  return bytes === undefined ? {} : parseSettings(bytes, file, owner);
}

/** @returns `undefined` if there is no file @throws {HumanError} if it cannot be one with settings */
export async function settingsContent(
  file: string,
  owner: SettingsOwner,
): Promise<Buffer | undefined> {
  try {
    // A person's own file may be a link; a link in a repository may lead anywhere.
    const info = owner.kind === 'person' ? await stat(file) : await lstat(file);
    if (!info.isFile()) {
      throw new HumanError(
        say('{0} is not a regular file. Put a settings file there, or remove it.', file),
      );
    }
    if (owner.kind === 'workspace') {
      // A parent folder may be a link, too.
      requireInside(file);
    }
    if (info.size > MAX_BYTES) {
      throw new HumanError(
        say('{0} is too large for a settings file. Find out how it got there.', file),
      );
    }
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return undefined;
    }
    if (error instanceof HumanError || code === undefined) {
      throw error;
    }
    throw new HumanError(say('{0} cannot be read ({1}). Check its permissions.', file, code), {
      cause: error,
    });
  }
}

/**
 * Parses the content of a settings file. Pure.
 * @throws {HumanError} with the file, the line and how to fix it; nothing else, whatever the content is
 */
export function parseSettings(
  content: string | Uint8Array,
  file: string,
  owner: SettingsOwner,
): GivenSettings {
  const text = typeof content === 'string' ? content : decode(content, file);
  const lines = new TextLines(text);
  const fail: Fail = (offset, message) => {
    throw new HumanError(say('{0}, line {1}: {2}', file, lines.at(offset).line, message));
  };
  const given: Partial<Record<SettingName, unknown>> = {};
  const seenOn = new Map<string, number>();
  for (const { key, keyAt, valueNode } of entries(text, fail)) {
    const before = seenOn.get(key);
    if (before !== undefined) {
      fail(
        keyAt,
        say('"{0}" is already set on line {1}. Remove one of the two.', shown(key), before),
      );
    }
    seenOn.set(key, lines.at(keyAt).line);
    if (IGNORED_KEYS.has(key)) {
      continue;
    }
    const setting = SETTING_NAMES.find(known => known === key);
    if (setting === undefined) {
      return fail(keyAt, unknownKey(key));
    }
    const { kind, isPersonal } = definitionOf(setting);
    const parsed = kind.schema.safeParse(getNodeValue(valueNode));
    if (!parsed.success) {
      const found = text.slice(valueNode.offset, valueNode.offset + valueNode.length);
      return fail(
        valueNode.offset,
        kind.example === undefined
          ? say('"{0}" is {1}. It must be {2}.', setting, shown(found), kind.expected)
          : say(
              '"{0}" is {1}. It must be {2}, such as {3}.',
              setting,
              shown(found),
              kind.expected,
              kind.example,
            ),
      );
    }
    if (owner.kind === 'workspace' && isPersonal?.(parsed.data) === true) {
      const isAlways = isPersonal(undefined);
      fail(keyAt, refusal(setting, isAlways ? undefined : parsed.data, owner.ownFile));
    }
    given[setting] = parsed.data;
  }
  return given as GivenSettings;
}

type Fail = (offset: number, message: Message) => never;

interface Entry {
  readonly key: string;
  readonly keyAt: number;
  readonly valueNode: Node;
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new HumanError(say('{0} is not UTF-8 text. Save it with the encoding UTF-8.', file), {
      cause: error,
    });
  }
}

function entries(text: string, fail: Fail): Entry[] {
  requireShallow(text, fail);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (root === undefined) {
    return fail(0, say('The file contains no settings. Write {} or remove it.'));
  }
  if (error !== undefined) {
    return fail(error.offset, syntaxError(printParseErrorCode(error.error)));
  }
  if (root.type !== 'object') {
    return fail(root.offset, say('The settings must be in braces: { "maxIterations": 20 }'));
  }
  return (root.children ?? []).flatMap(({ children: [keyNode, valueNode] = [] }) =>
    keyNode === undefined || valueNode === undefined
      ? []
      : [{ key: String(keyNode.value), keyAt: keyNode.offset, valueNode }],
  );
}

/** Checked before parsing, because the parser is recursive. */
function requireShallow(text: string, fail: Fail): void {
  // SyntaxKind of jsonc-parser is a const enum, which isolated modules cannot import: { } [ ] and the end.
  const [open, close, openList, closeList, end] = [1, 2, 3, 4, 17];
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== end; token = scanner.scan()) {
    if (token === open || token === openList) {
      depth += 1;
    } else if (token === close || token === closeList) {
      depth -= 1;
    }
    if (depth > MAX_DEPTH) {
      fail(
        scanner.getTokenOffset(),
        say('This is nested more deeply than any setting. Remove it.'),
      );
    }
  }
}

function syntaxError(code: string): Message {
  const isCutOff = say('The end of the file comes before the last bracket is closed.');
  const messages: Readonly<Record<string, Message>> = {
    CommaExpected: say('A comma is missing before this.'),
    ColonExpected: say('A colon is missing after this key.'),
    PropertyNameExpected: say('A key in double quotes is expected here.'),
    ValueExpected: say('A value is missing here.'),
    CloseBraceExpected: isCutOff,
    CloseBracketExpected: isCutOff,
    EndOfFileExpected: say('The settings end before this. Remove what follows them.'),
    UnexpectedEndOfComment: say('A comment is not closed: add */ at its end.'),
    UnexpectedEndOfString: say('A text has no closing quote: add a " at its end.'),
  };
  return messages[code] ?? say('This is not JSON ({0}).', code);
}

function unknownKey(key: string): Message {
  const nearest = nearestSetting(key);
  return nearest === undefined
    ? say('There is no setting "{0}". See docs/settings.md for all of them.', shown(key))
    : say('There is no setting "{0}". Did you mean "{1}"?', shown(key), nearest);
}

/** @param value included in the message if the setting has other valid values */
function refusal(setting: SettingName, value: unknown, ownFile: string | undefined): Message {
  const what = value === undefined ? `"${setting}"` : `"${setting}": ${JSON.stringify(value)}`;
  const flag = flagName(setting);
  return ownFile === undefined
    ? say(
        '{0} is not taken from a workspace, whose files come from others: it decides which programs run, with which rights, and who pays. Remove it here; use {1}.',
        what,
        flag,
      )
    : say(
        '{0} is not taken from a workspace, whose files come from others: it decides which programs run, with which rights, and who pays. Remove it here; use {1} or put it into your own {2}.',
        what,
        flag,
        ownFile,
      );
}

/** The setting that was probably meant by a key, compared with its name and its flag. */
function nearestSetting(key: string): SettingName | undefined {
  const wanted = plain(key.slice(0, 60));
  let best: { readonly setting: SettingName; readonly distance: number } | undefined;
  for (const setting of SETTING_NAMES) {
    for (const name of [plain(setting), plain(flagName(setting))]) {
      const distance = editDistance(wanted, name);
      if (distance <= name.length / 3 && (best === undefined || distance < best.distance)) {
        best = { setting, distance };
      }
    }
  }
  return best?.setting;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function shown(text: string): string {
  return shorten(text, 60);
}
