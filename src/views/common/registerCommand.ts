import { commands, type LogOutputChannel, Disposable as Registration } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { reportingErrors } from './errors.ts';
import { requireTrust } from './workspaceFolder.ts';

/** Arguments are whatever a menu, a link, a key or another extension passes; the palette passes none. */
type Action = (...args: readonly unknown[]) => Promise<unknown>;

/** Registers a command that reports its own failures to the person. */
export function registerCommand(id: string, log: LogOutputChannel, action: Action): Disposable {
  return commands.registerCommand(id, (...args: readonly unknown[]) =>
    reportingErrors(log, async () => {
      await action(...args);
    }),
  );
}

/** Like {@link registerCommand}, for commands that run agents or git: refused in an untrusted workspace. */
export function registerTrustedCommand(
  id: string,
  log: LogOutputChannel,
  action: Action,
): Disposable {
  return registerCommand(id, log, async (...args) => {
    requireTrust();
    await action(...args);
  });
}

/** Registers several commands, by their ids. */
export function registerCommands(
  log: LogOutputChannel,
  actions: Readonly<Record<string, Action>>,
  register = registerCommand,
): Disposable {
  return Registration.from(
    ...Object.entries(actions).map(([id, action]) => register(id, log, action)),
  );
}

/** Like {@link registerCommands}, refused like {@link registerTrustedCommand}. */
export function registerTrustedCommands(
  log: LogOutputChannel,
  actions: Readonly<Record<string, Action>>,
): Disposable {
  return registerCommands(log, actions, registerTrustedCommand);
}
