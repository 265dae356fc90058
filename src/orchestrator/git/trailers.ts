/** A trailer, such as `Co-Authored-By: …`; git allows spaces before the colon. */
const TRAILER = /^[A-Za-z0-9-]+[ \t]*:/;
/** Lines that git itself writes into the last paragraph; one of them makes it a block of trailers. */
const BY_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;

/**
 * A commit message with trailers added, by git's own rules: they join the last paragraph if that is a block of
 * trailers. Trailers of the same names that are there already are replaced. Pure. `git interpret-trailers` is not
 * used, because it can run programs that the configuration names.
 *
 * @param trailers by name; each value becomes one line
 */
export function withTrailers(message: string, trailers: Readonly<Record<string, string>>): string {
  const lines = message.replace(/\r\n?/g, '\n').trimEnd().split('\n');
  const from = trailerStart(lines);
  const names = new Set(Object.keys(trailers).map(name => name.toLowerCase()));
  const body = lines.slice(0, from).join('\n').trimEnd();
  const block = without(lines.slice(from), names);
  for (const [name, value] of Object.entries(trailers)) {
    block.push(`${name}: ${value.replace(/\s+/g, ' ').trim()}`);
  }
  return `${[body, block.join('\n')].filter(part => part !== '').join('\n\n')}\n`;
}

/** The trailers of a message with this name, as whole lines. Pure. */
export function trailersNamed(message: string, name: string): string[] {
  const lines = message.replace(/\r\n?/g, '\n').trimEnd().split('\n');
  return lines
    .slice(trailerStart(lines))
    .filter(line => nameOf(line) === name.toLowerCase())
    .map(line => line.trim());
}

/** @returns the index of the first line of the block; the number of lines if there is none */
function trailerStart(lines: readonly string[]): number {
  const from = lines.findLastIndex(line => line.trim() === '') + 1;
  const block = lines.slice(from);
  // The first paragraph is the subject.
  const isFirst = lines.slice(0, from).every(line => line.trim() === '');
  const trailers = block.filter(
    (line, i) => TRAILER.test(line) || BY_GIT.test(line) || (i > 0 && /^[ \t]/.test(line)),
  );
  const isBlock =
    trailers.length === block.length ||
    (block.some(line => BY_GIT.test(line)) && trailers.length * 4 >= block.length);
  return !isFirst && isBlock ? from : lines.length;
}

/** Without the trailers of these names, and the lines that continue them. */
function without(block: readonly string[], names: ReadonlySet<string>): string[] {
  let isRemoved = false;
  return block.filter(line => {
    isRemoved = /^[ \t]/.test(line) ? isRemoved : names.has(nameOf(line));
    return !isRemoved;
  });
}

function nameOf(line: string): string {
  return TRAILER.test(line) ? line.slice(0, line.indexOf(':')).trim().toLowerCase() : '';
}
