/** Words of a line as a screen reader is given them: a dot between them may be said as "middle dot", a comma is a pause. */
export function heardWords(words: string): string {
  return words.replaceAll(' · ', ', ');
}
