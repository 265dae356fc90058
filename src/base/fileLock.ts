import { lock } from 'proper-lockfile';

/**
 * Takes a lock for reading and changing a file, for milliseconds. Loaded on demand: it needs a library, and code
 * that only reads needs no lock.
 * @param folder the file's folder
 * @returns a function that releases the lock
 * @throws the system's error if the folder cannot be written
 */
export async function lockAround(folder: string, file: string): Promise<() => Promise<void>> {
  return lock(folder, {
    lockfilePath: `${file}.taking`,
    stale: 5_000,
    retries: { retries: 60, factor: 1.2, minTimeout: 20, maxTimeout: 500 },
  });
}
