import path from 'node:path';

/**
 * The names of a window's folders, each different from all others: folders with the same name also get as much of the
 * path above them as tells them apart, as in `api (shop)`. Pure.
 */
export function distinctNames(
  folders: readonly { readonly path: string; readonly name: string }[],
): string[] {
  const taken = new Map<string, number>();
  for (const { name } of folders) {
    taken.set(name, (taken.get(name) ?? 0) + 1);
  }
  return folders.map(folder => {
    const same = folders.filter(other => other !== folder && other.name === folder.name);
    if (same.length === 0) {
      return folder.name;
    }
    const depth = partsAbove(folder.path).findIndex((_, index) =>
      same.every(other => above(other.path, index + 1) !== above(folder.path, index + 1)),
    );
    const named = `${folder.name} (${depth === -1 ? folder.path : above(folder.path, depth + 1)})`;
    // Somebody has given this name to another folder.
    return taken.has(named) ? `${folder.name} (${folder.path})` : named;
  });
}

/** The last folders above a folder, as many as `depth`. */
function above(folderPath: string, depth: number): string {
  return partsAbove(folderPath).slice(-depth).join('/');
}

function partsAbove(folderPath: string): string[] {
  return path
    .dirname(folderPath)
    .split(/[\\/]/)
    .filter(part => part !== '');
}
