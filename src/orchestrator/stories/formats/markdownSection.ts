/** What follows a heading of the second level, up to the next one. */
export function sectionOf(body: string, heading: string): string | undefined {
  const lines = body.split('\n');
  const own = new RegExp(`^## ${heading}(?: \\(Optional\\))?\\s*$`, 'i');
  const start = lines.findIndex(line => own.test(line));
  if (start === -1) {
    return undefined;
  }
  const length = lines.slice(start + 1).findIndex(line => /^## /.test(line));
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}
