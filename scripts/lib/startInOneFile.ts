import path from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Keeps what an entry needs at its start in one file, since to find and load each takes half a millisecond. With
 * `splitting`, esbuild divides code by which entries need it. So everything that is loaded later imports the start, which is
 * there by then. The same holds for what follows the start.
 * @param start the entry, relative to the folder that is built
 * @param next parts that are loaded soon after the start, in this order; each gets one file, too
 */
export function startInOneFile(root: string, start: string, next: readonly string[] = []): Plugin {
  return {
    name: 'start-in-one-file',
    setup({ onLoad, onResolve, resolve }) {
      onResolve({ filter: /^\..*\.ts$/ }, async ({ importer, kind, path: name, resolveDir }) => {
        if (kind !== 'dynamic-import') {
          return undefined;
        }
        const found = await resolve(name, { importer, kind: 'import-statement', resolveDir });
        return found.errors.length > 0
          ? { errors: found.errors }
          : // Relative, so that the result is the same in every folder.
            { path: path.relative(root, found.path).replaceAll('\\', '/'), namespace: 'later' };
      });
      onLoad({ filter: /.*/, namespace: 'later' }, ({ path: file }) => {
        const at = next.indexOf(file);
        const before = [start, ...(at < 0 ? next : next.slice(0, at))];
        const imports = before.map(name => `import ${JSON.stringify(`./${name}`)};`).join('');
        return {
          contents: `${imports} export * from ${JSON.stringify(`./${file}`)};`,
          resolveDir: root,
        };
      });
    },
  };
}
