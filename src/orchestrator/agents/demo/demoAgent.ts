import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import type { Agent } from '../agent.ts';
import { agentEnv } from '../agentEnv.ts';
import { StreamJsonDecoder } from '../claude/streamJson.ts';

/** An agent without account or cost that plays back prepared work for the sample project. */
export function demoAgent(options: { readonly program?: string } = {}): Agent {
  return {
    id: 'demo',
    ignores: ['model', 'effort'],
    command: async request => {
      const program = options.program ?? ownProgram();
      if (!existsSync(program)) {
        throw new HumanError(
          say(
            "The demo agent's program is missing ({0}). Install Ralph Fresh again, or choose the agent claude.",
            program,
          ),
        );
      }
      const env = agentEnv(request.env);
      if (process.versions['electron'] !== undefined) {
        // Inside VS Code the executable is the editor's own and only runs a script with this.
        env['ELECTRON_RUN_AS_NODE'] = '1';
      }
      return {
        file: process.execPath,
        args: [program, '--max-turns', String(request.maxTurns)],
        stdin: request.prompt,
        env,
      };
    },
    decoder: () => new StreamJsonDecoder(),
  };
}

function ownProgram(): string {
  const name = import.meta.filename.endsWith('.ts') ? 'program.ts' : 'demo-agent.js';
  return path.join(import.meta.dirname, name);
}
