/** Larger files are data, or made by a program. */
const MAX_BYTES = 200_000;
const SOURCE =
  /\.(?:[cm]?[jt]s|[jt]sx|rs|go|py|java|kts?|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|exs?|lua|dart|zig|sh|css|scss|html|vue|svelte|md|json|ya?ml|toml|proto|graphql|sql)$/;
/** Written by a package manager or a release tool at every step: they match everything and help nobody. */
const MADE = /package-lock|yarn\.lock|pnpm-lock|CHANGELOG|Cargo\.lock/i;

/**
 * Whether the index holds a file: source code, settings and documents of moderate size.
 * @param size in bytes
 */
export function isSourceFile(path: string, size: number): boolean {
  return size < MAX_BYTES && SOURCE.test(path) && !MADE.test(path);
}
