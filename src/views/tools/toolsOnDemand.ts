import { Disposable, type LogOutputChannel, lm } from 'vscode';
import { Tool } from '../common/contributions.ts';
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
  return Disposable.from(
    ...Object.values(Tool).map(tool =>
      lm.registerTool(tool, {
        invoke: async ({ input }) => (await load()).invoke(tool, input),
        prepareInvocation:
          tool === Tool.startRun
            ? async ({ input }) => (await load()).beforeStart(input)
            : undefined,
      }),
    ),
  );
}
