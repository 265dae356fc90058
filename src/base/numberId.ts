/** The id of a story without one in the file: its position in the list. */
export function numberId(position: number): string {
  return `#${position + 1}`;
}

/** Whether this is not an id of the story's own, but its number in the list. */
export function isNumberId(id: string): boolean {
  return /^#\d+$/.test(id);
}
