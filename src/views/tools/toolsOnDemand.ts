import { type LogOutputChannel, lm } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Tool } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import type { Steering } from '../run/steering.ts';

/** Registers the tools of a language model; their code is loaded on first use. */
export function toolsOnDemand(
  folders: Folders,
  steering: OnDemand<Steering>,
  log: LogOutputChannel,
): Disposable {
  const load = async () => {
    const [{ languageModelTools }, steers] = await Promise.all([
      import('./languageModelTools.ts'),
      steering.get(),
    ]);
    return languageModelTools(folders, steers, log);
  };
  const store = new DisposableStore();
  for (const tool of Object.values(Tool)) {
    store.add(
      lm.registerTool(tool, {
        invoke: async ({ input }) => (await load()).invoke(tool, input),
        prepareInvocation:
          tool === Tool.startRun
            ? async ({ input }) => (await load()).beforeStart(input)
            : undefined,
      }),
    );
  }
  return store;
}
