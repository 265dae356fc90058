import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

/** The window passes the token of its session on in this one. */
export const WINDOW_TOKEN = 'RALPH_FRESH_GITHUB_TOKEN';

/** Everything in which a token of GitHub is usually passed on. Agents and checks get none of them. */
export const TOKEN_NAMES: readonly string[] = [
  WINDOW_TOKEN,
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'GITHUB_ENTERPRISE_TOKEN',
  'GH_ENTERPRISE_TOKEN',
];

/** Tells a loop that it is given {@link Secrets} on its standard input. */
export const SECRETS_FLAG = '--secrets-on-stdin';

/** Of what comes on standard input, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Values of the environment by their names. */
type Secrets = Readonly<Record<string, string>>;

/**
 * Takes the tokens out of an environment. What a process is started with can be read by every process of the same user
 * for as long as it lives (`/proc/PID/environ`), so also by agents: nothing that the loop does later changes it.
 */
export function withoutSecrets(env: Environment): {
  readonly env: Environment;
  /** `undefined` if there are none. */
  readonly secrets: Secrets | undefined;
} {
  const secrets = Object.fromEntries(
    TOKEN_NAMES.flatMap(name => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const others = Object.entries(env).filter(([name]) => !(name in secrets));
  return Object.keys(secrets).length === 0
    ? { env, secrets: undefined }
    : { env: Object.fromEntries(others), secrets };
}

/** Writes them to a process that was started with {@link SECRETS_FLAG}. */
export function giveSecrets(stdin: Writable, secrets: Secrets): void {
  // It has ended already; its exit says why.
  stdin.on('error', () => undefined);
  stdin.end(JSON.stringify(secrets));
}

/**
 * Reads what the process that started this one has given to it.
 * @returns nothing if that process ended before it could give anything
 */
export async function takeSecrets(stdin: Readable): Promise<Secrets> {
  let text = '';
  for await (const chunk of stdin) {
    text += chunk;
    if (text.length > MAX_BYTES) {
      break;
    }
  }
  const given = text === '' ? {} : z.record(z.string(), z.string()).parse(JSON.parse(text));
  return Object.fromEntries(Object.entries(given).filter(([name]) => TOKEN_NAMES.includes(name)));
}
