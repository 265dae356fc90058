import type { Command, Option } from 'commander';
import { say } from '../orchestrator/say.ts';
import { shorten } from '../orchestrator/text.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { shellText, shellWord } from '../presentation/shellWord.ts';
import { givenFlags } from './settingFlags.ts';

/** Longest text that is repeated, in UTF-16 units. */
const MAX_SHOWN = 500;
/** What an argument, or the value of an option, is called that may be several words. */
const WORDY: ReadonlySet<string> = new Set(['text', 'task', 'command', 'phrase']);

/** Has a command that is given several words for one text tell how they are quoted, with the whole command line. */
export function takesOneText(command: Command): Command {
  return command.allowExcessArguments().hook('preAction', () => {
    const { args, registeredArguments } = command;
    const expected = registeredArguments.length;
    if (args.length <= expected) {
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

/** The command with the words in one argument, its last. */
function withLastQuoted(command: Command): string {
  const at = command.registeredArguments.length - 1;
  const given = command.args.slice(at).join(' ');
  // Nobody should send a part of a text for the whole.
  const text = given.length > MAX_SHOWN ? '…' : shorten(given, MAX_SHOWN);
  return [
    ...['ralph-fresh', command.name(), ...command.args.slice(0, at).map(shellWord)],
    ...givenFlags(command, []).map(shellWord),
    // Behind this no text is taken for an option.
    ...(text.startsWith('-') ? ['--'] : []),
    shellText(text),
  ].join(' ');
}

/** An option whose value is a text, with the words behind it that may belong to that. */
interface Spread {
  readonly option: Option;
  readonly flag: string;
  readonly value: string;
  readonly words: readonly string[];
}

/**
 * The same where the words stand behind an option whose value is a text: they belong to that.
 * @param given the command line, from the command's name on
 * @returns only an example where it cannot be told which words belong together; `undefined` without such an option
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

function spreadsIn({ options }: Command, given: readonly string[]): readonly Spread[] {
  return given.flatMap((arg, at): Spread[] => {
    const [flag = '', ...joined] = arg.split('=');
    const option = options.find(({ long }) => long === flag);
    if (option === undefined || !WORDY.has(valueName(option))) {
      return [];
    }
    const isJoined = joined.length > 0;
    const behind = given.slice(at + (isJoined ? 1 : 2));
    const end = behind.findIndex(word => word.startsWith('-'));
    const words = end === -1 ? behind : behind.slice(0, end);
    const value = isJoined ? joined.join('=') : (given[at + 1] ?? '');
    // One of several words had its quotes.
    const isWhole = words.length === 0 || value.includes(' ');
    return isWhole ? [] : [{ option, flag, value, words }];
  });
}

/** A list without a part of it that stands together, once. */
function without<T>(list: readonly T[], part: readonly T[]): readonly T[] {
  const at = list.findIndex((_, start) => part.every((one, index) => list[start + index] === one));
  return at === -1 ? list : [...list.slice(0, at), ...list.slice(at + part.length)];
}

/** `command` of `--verify <command>`. */
function valueName({ flags }: Option): string {
  return /<([^>]+)>$/.exec(flags)?.[1] ?? '';
}
