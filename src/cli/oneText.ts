import type { Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { shellText, shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { givenFlags } from './settingFlags.ts';

/** Maximum length of a text that is repeated, in UTF-16 units. */
const MAX_SHOWN = 500;
/** Names of arguments, and of option values, that may consist of several words. */
const WORDY: ReadonlySet<string> = new Set(['text', 'task', 'command', 'phrase', 'list']);

/** Name of option values that are a program. */
const PROGRAM = 'program';

/**
 * Makes a command that got several words instead of one text explain how to quote them, with the whole command line.
 */
export function takesOneText(command: Command): Command {
  return command.allowExcessArguments().hook('preAction', () => {
    const { args, registeredArguments } = command;
    const expected = registeredArguments.length;
    if (args.length <= expected) {
      requireOwnText(command, process.argv.slice(2));
      return;
    }
    const line =
      withOptionQuoted(command, process.argv.slice(2)) ??
      (WORDY.has(registeredArguments.at(-1)?.name() ?? '') ? withLastQuoted(command) : undefined);
    if (line === undefined) {
      command.error(
        `too many arguments for '${command.name()}'. Expected ${expected} argument${expected === 1 ? '' : 's'} but got ${args.length}: ${args.join(', ')}.`,
      );
    }
    throw new UsageError(say('A text of several words needs quotes around it: {0}', line));
  });
}

/**
 * The shell splits `--verify npm test` into a check "npm" and a task "test". One word directly after an option with a
 * one-word value is ambiguous, so both readings are named. A task before the options, or of several words, is clear.
 * @throws {UsageError} if the command's own text may be part of an option's value
 */
function requireOwnText(command: Command, given: readonly string[]): void {
  const { args, registeredArguments } = command;
  const own = WORDY.has(registeredArguments.at(-1)?.name() ?? '')
    ? args[registeredArguments.length - 1]
    : undefined;
  if (own === undefined || own.includes(' ')) {
    return;
  }
  const spread = spreadsIn(command, given, name => WORDY.has(name) || name === PROGRAM).find(
    ({ words }) => words.length === 1 && words[0] === own,
  );
  if (spread === undefined) {
    return;
  }
  const { flag, option, value } = spread;
  const word = shorten(own, MAX_SHOWN);
  const first = ['ralph-fresh', command.name(), shellText(word), flag, shellText(value)].join(' ');
  throw new UsageError(
    valueName(option) === PROGRAM
      ? say(
          'Does "{0}" belong to {1}? Then pass it as an argument of the program: --command-arg {2}. If it is a separate text, put it first: {3}',
          word,
          flag,
          shellText(word),
          first,
        )
      : say(
          'Does "{0}" belong to {1}? Then put quotes around both: {1} {2}. If it is a separate text, put it first: {3}',
          word,
          flag,
          shellText(`${value} ${word}`),
          first,
        ),
  );
}

/** The command line with the words quoted as its last argument. */
function withLastQuoted(command: Command): string {
  const at = command.registeredArguments.length - 1;
  const given = command.args.slice(at).join(' ');
  // Nobody should mistake a part of a text for the whole.
  const text = given.length > MAX_SHOWN ? '…' : shorten(given, MAX_SHOWN);
  return [
    ...['ralph-fresh', command.name(), ...command.args.slice(0, at).map(shellWord)],
    ...givenFlags(command, []).map(shellWord),
    // After this, no text is parsed as an option.
    ...(text.startsWith('-') ? ['--'] : []),
    shellText(text),
  ].join(' ');
}

/** An option whose value is a text, with the following words that may belong to it. */
interface Spread {
  readonly option: Option;
  readonly flag: string;
  readonly value: string;
  readonly words: readonly string[];
}

/**
 * Like {@link withLastQuoted}, for words that follow an option whose value is a text: they belong to that value.
 * @param given the command line, starting with the command's name
 * @returns only an example if it is unclear which words belong together; `undefined` without such an option
 */
function withOptionQuoted(command: Command, given: readonly string[]): string | undefined {
  const spread = spreadsIn(command, given);
  const [only] = spread;
  if (only === undefined) {
    return undefined;
  }
  const { flag, option, value, words } = only;
  const text = [value, ...words].join(' ');
  const operands = without(command.args, words);
  if (
    spread.length > 1 ||
    operands.length > command.registeredArguments.length ||
    text.length > MAX_SHOWN
  ) {
    return `${flag} "…"`;
  }
  const key = option.attributeName();
  const values: unknown = command.getOptionValue(key);
  const others = Array.isArray(values) ? without(values, [value]) : [];
  return [
    ...['ralph-fresh', command.name(), ...operands.map(shellWord)],
    ...givenFlags(command, [key]).map(shellWord),
    ...others.flatMap(other => [flag, shellText(String(other))]),
    ...[flag, shellText(shorten(text, MAX_SHOWN))],
  ].join(' ');
}

function spreadsIn(
  { options }: Command,
  given: readonly string[],
  isMeant: (name: string) => boolean = name => WORDY.has(name),
): readonly Spread[] {
  return given.flatMap((arg, at): Spread[] => {
    const [flag = '', ...joined] = arg.split('=');
    const option = options.find(({ long }) => long === flag);
    if (option === undefined || !isMeant(valueName(option))) {
      return [];
    }
    const isJoined = joined.length > 0;
    const behind = given.slice(at + (isJoined ? 1 : 2));
    const end = behind.findIndex(word => word.startsWith('-'));
    const words = end === -1 ? behind : behind.slice(0, end);
    const value = isJoined ? joined.join('=') : (given[at + 1] ?? '');
    // A value of several words was quoted.
    const isWhole = words.length === 0 || value.includes(' ');
    return isWhole ? [] : [{ option, flag, value, words }];
  });
}

/** The list without one consecutive occurrence of `part`. */
function without<T>(list: readonly T[], part: readonly T[]): readonly T[] {
  const at = list.findIndex((_, start) => part.every((one, index) => list[start + index] === one));
  return at === -1 ? list : [...list.slice(0, at), ...list.slice(at + part.length)];
}

/** `command` of `--verify <command>`. */
function valueName({ flags }: Option): string {
  return /<([^>]+)>$/.exec(flags)?.[1] ?? '';
}
