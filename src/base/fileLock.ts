import { lock } from 'proper-lockfile';

/** When those of this process that have asked for a lock before have released it. */
const turns = new Map<string, Promise<void>>();

/**
 * Takes a lock for reading and changing a file, for milliseconds. Loaded on demand: it needs a library, and code
 * that only reads needs no lock. Within this process, requests are served in their order: of sixteen that try again
 * and again, one may never get it.
 * @param folder the file's folder
 * @returns a function that releases the lock
 * @throws the system's error if the folder cannot be written
 */
export async function lockAround(folder: string, file: string): Promise<() => Promise<void>> {
  const before = turns.get(file);
  let pass: () => void = () => undefined;
  const turn = new Promise<void>(resolve => {
    pass = resolve;
  });
  turns.set(file, turn);
  const end = () => {
    if (turns.get(file) === turn) {
      turns.delete(file);
    }
    pass();
  };
  await before;
  let isLost = false;
  try {
    const release = await lock(folder, {
      lockfilePath: `${file}.taking`,
      stale: 5_000,
      retries: { retries: 60, factor: 1.2, minTimeout: 20, maxTimeout: 500 },
      onCompromised: () => {
        // Removed, or taken over while this process slept. By default, this would end the process.
        isLost = true;
      },
    });
    return async () => {
      try {
        if (!isLost) {
          await release();
        }
      } finally {
        end();
      }
    };
  } catch (error) {
    end();
    throw error;
  }
}
