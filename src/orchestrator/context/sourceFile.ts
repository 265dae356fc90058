import { isAtStoryPlace } from '../stories/storyPlaces.ts';

/** Larger files are data, or made by a program. */
const MAX_BYTES = 200_000;
const SOURCE =
  /\.(?:[cm]?[jt]s|[jt]sx|rs|go|py|java|kts?|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|exs?|lua|dart|zig|sh|css|scss|html|vue|svelte|md|json|ya?ml|toml|proto|graphql|sql)$/;
/** Written by a package manager or a release tool at every step: they match everything and help nobody. */
const MADE = /package-lock|yarn\.lock|pnpm-lock|CHANGELOG|Cargo\.lock/i;

/** Whether a file of so many bytes can be source that people write. */
export function isModerate(size: number): boolean {
  return size < MAX_BYTES;
}

/** Whether a path is that of source code, settings or a document. */
export function isSourcePath(path: string): boolean {
  return SOURCE.test(path) && !MADE.test(path);
}

/** Settings that hold passwords; their names may be harmless elsewhere, but nobody needs them to be found. */
const SECRET =
  /(?:^|\/)(?:\.env[^/]*|[^/]*(?:secret|credential|password)[^/]*\.(?:json|ya?ml|toml)|service-?account[^/]*\.json)$/i;
/** Control characters; and what stands for bytes that are no UTF-8: nobody can open the file by such a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a path with one is nothing that a prompt can name.
const UNSPEAKABLE = /[\u0000-\u001f\u007f\ufffd]/;
const GENERATED = /@generated|\bDO NOT EDIT\b|\bauto-?generated\b|\bcode generated\b/i;
/** A file whose content is elsewhere; what stands here is its hash. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';
/** Where a program says that it wrote the file, in UTF-16 units. */
const HEAD = 1_000;
/** Longer lines on average, in UTF-16 units: minified. */
const LONG_LINES = 400;

/** The code of others, what was built, and our own files, which prompts tell about in other ways. */
const FOREIGN = /(?:^|\/)(?:node_modules|vendor|third_party|dist|\.yarn|\.omc|\.ralph|\.beads)\//;

/**
 * Whether agents may be led to a file: source of this project, without secrets, with a path that fits on a line. A list
 * of stories is named elsewhere in the prompt. Its size
 * must be moderate, too.
 */
export function isShownPath(path: string): boolean {
  return (
    isSourcePath(path) &&
    !SECRET.test(path) &&
    !FOREIGN.test(path) &&
    canBeNamed(path) &&
    !isAtStoryPlace(path)
  );
}

/** Whether a prompt can name a path, so that an agent opens it by that name. */
export function canBeNamed(path: string): boolean {
  return !UNSPEAKABLE.test(path);
}

/** Whether a text was made by a program, or is none. */
export function isGenerated(text: string): boolean {
  const lines = text.split('\n').length;
  return (
    text.includes('\u0000') ||
    text.startsWith(LFS_POINTER) ||
    GENERATED.test(text.slice(0, HEAD)) ||
    (text.length > 5_000 && text.length / lines > LONG_LINES)
  );
}
