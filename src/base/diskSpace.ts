import { statfsSync } from 'node:fs';

/** In bytes. With less, git may fail at any file, also without saying that the disk is the reason. */
const ALMOST_NOTHING = 1024 * 1024;

/**
 * Whether a disk has almost no space left, for what fails without an error code of the system.
 * @param folders on the disks that may be full
 * @returns how many bytes are free, if it is almost nothing
 */
export function littleSpaceOn(...folders: readonly string[]): number | undefined {
  const free = folders.map(freeBytes).filter(bytes => bytes !== undefined);
  const least = Math.min(...free);
  return least < ALMOST_NOTHING ? least : undefined;
}

/** @returns `undefined` if the system does not say */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
