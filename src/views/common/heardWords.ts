/** Text of a line for a screen reader: it may read a dot between words as "middle dot", but a comma as a pause. */
export function heardWords(words: string): string {
  return words.replaceAll(' · ', ', ');
}
