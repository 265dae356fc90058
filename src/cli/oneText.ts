import type { Command, Option } from 'commander';
import { say } from '../orchestrator/say.ts';
import { shorten } from '../orchestrator/text.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { givenFlags } from './settingFlags.ts';
import { shellText, shellWord } from './shellWord.ts';

/** Longest text that is repeated, in UTF-16 units. */
const MAX_SHOWN = 200;
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
  const text = shorten(command.args.slice(at).join(' '), MAX_SHOWN);
  return [
    ...['ralph-fresh', command.name(), ...command.args.slice(0, at).map(shellWord)],
    ...givenFlags(command, []).map(shellWord),
    // Behind this no text is taken for an option.
    ...(text.startsWith('-') ? ['--'] : []),
    shellText(text),
  ].join(' ');
}

/**
 * The same where the words stand behind an option whose value is a text: they belong to that.
 * @param given the command line, from the command's name on
 */
function withOptionQuoted(command: Command, given: readonly string[]): string | undefined {
  const { args } = command;
  const isLast = (arg: string, at: number) => arg === given.at(-1 - at);
  const count = args.toReversed().findIndex((arg, at) => !isLast(arg, at));
  const words = count === -1 ? args : args.slice(args.length - count);
  const operands = args.slice(0, args.length - words.length);
  const [flag = '', value = ''] = given.slice(given.length - words.length - 2);
  const option = command.options.find(({ long }) => long === flag);
  if (option === undefined || !WORDY.has(valueName(option)) || words.length === 0) {
    return undefined;
  }
  return [
    ...['ralph-fresh', command.name(), ...operands.map(shellWord)],
    ...givenFlags(command, [option.attributeName()]).map(shellWord),
    flag,
    shellText(shorten([value, ...words].join(' '), MAX_SHOWN)),
  ].join(' ');
}

/** `command` of `--verify <command>`. */
function valueName({ flags }: Option): string {
  return /<([^>]+)>$/.exec(flags)?.[1] ?? '';
}
