import { TOKEN_NAMES, WINDOW_TOKEN } from '../orchestrator/workspace/startSecrets.ts';

/**
 * Takes the tokens of GitHub out of the environment of this process, so that agents, checks and everything else that it
 * starts get none.
 * @param which all of them, or only that of the window
 * @returns their environment
 */
export function agentEnvironment(which: 'all' | 'window'): NodeJS.ProcessEnv {
  for (const name of which === 'all' ? TOKEN_NAMES : [WINDOW_TOKEN]) {
    delete process.env[name];
  }
  return process.env;
}
