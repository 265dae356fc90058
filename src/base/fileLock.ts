import { lock } from 'proper-lockfile';

/**
 * Keeps others out around a look at a file and its change, for milliseconds. Loaded by whoever takes it: it brings a library, and
 * whoever only looks needs no lock.
 * @param folder that the file is in
 * @returns gives it back
 * @throws the system's error when the folder cannot be written
 */
export async function lockAround(folder: string, file: string): Promise<() => Promise<void>> {
  return lock(folder, {
    lockfilePath: `${file}.taking`,
    stale: 5_000,
    retries: { retries: 60, factor: 1.2, minTimeout: 20, maxTimeout: 500 },
  });
}
