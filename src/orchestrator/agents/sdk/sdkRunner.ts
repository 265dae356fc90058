/**
 * The SDK agent's own program: reads one request from standard input, calls the Claude Agent SDK, and prints each
 * of its messages as one line of JSON. It does not know the loop.
 */

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../../base/messageOf.ts';

/** The content of standard input, as JSON. */
export interface SdkRunnerRequest {
  /** Absolute path of the SDK's module. */
  readonly sdk: string;
  readonly prompt: string;
  /** Options of `query()` that can be serialized as JSON; the others are created here. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The one function of the SDK that is used. */
interface Sdk {
  query(call: {
    prompt: string;
    options: Readonly<Record<string, unknown>>;
  }): AsyncIterable<unknown>;
}

async function main(abortController: AbortController): Promise<number> {
  const request: SdkRunnerRequest = JSON.parse(await text(process.stdin));
  let hasResult = false;
  let isError = false;
  try {
    const { query } = await importSdk(request.sdk);
    const options = { ...request.options, abortController, env: childEnv(), stderr: printError };
    for await (const message of query({ prompt: request.prompt, options })) {
      const { type, is_error } = (message ?? {}) as { type?: unknown; is_error?: unknown };
      if (type === 'result') {
        hasResult = true;
        isError = is_error === true;
      }
      await print(message);
    }
  } catch (error) {
    // Like the command line: an interrupted session has no result.
    abortController.signal.throwIfAborted();
    isError = true;
    // After a failed call the SDK also throws that its process failed, which is less informative than the result.
    if (!hasResult) {
      await print(failure(error));
      hasResult = true;
    }
  }
  abortController.signal.throwIfAborted();
  return isError || !hasResult ? 1 : 0;
}

async function importSdk(file: string): Promise<Sdk> {
  const sdk: Partial<Sdk> = await import(pathToFileURL(file).href);
  if (typeof sdk.query !== 'function') {
    throw new Error(`${file} is no Claude Agent SDK that is known here: it has no query()`);
  }
  return sdk as Sdk;
}

/** The inherited environment, including the run's marker, without the variables that only this process needed. */
function childEnv(): NodeJS.ProcessEnv {
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
  return env;
}

function failure(error: unknown): unknown {
  const message = messageOf(error);
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    result: message,
    errors: [message],
    num_turns: 0,
  };
}

async function print(message: unknown): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(message)}\n`)) {
    await once(process.stdout, 'drain');
  }
}

function printError(words: string): void {
  process.stderr.write(words);
}

const interrupt = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => interrupt.abort());
}
// Nobody reads the output any more, so nobody waits for a result.
process.stdout.on('error', () => interrupt.abort());

try {
  process.exitCode = await main(interrupt);
} catch (error) {
  if (!interrupt.signal.aborted) {
    throw error;
  }
  process.exitCode = 143;
}
