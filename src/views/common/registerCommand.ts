import { commands, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { reportingErrors } from './errors.ts';
import { requireTrust } from './workspaceFolder.ts';

/** Whatever a menu, a link, a key or another extension passes; nothing from the palette. */
type Action = (...args: readonly unknown[]) => Promise<unknown>;

/** Registers a command that tells the person itself when it fails. */
export function registerCommand(id: string, log: LogOutputChannel, action: Action): Disposable {
  return commands.registerCommand(id, (...args: readonly unknown[]) =>
    reportingErrors(log, async () => {
      await action(...args);
    }),
  );
}

/** As {@link registerCommand}, for what runs agents or git: it is refused in a workspace that is not trusted. */
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
