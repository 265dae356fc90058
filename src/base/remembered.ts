// Files repeat their keys, but a hostile one has no two that are equal, or long ones.
const MOST = 1_000;
const LONGEST = 40;

/** A function of a short text, such as a key, that finds its answer once for each. */
export function remembered<Answer>(find: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, { readonly answer: Answer }>();
  return text => {
    const found = known.get(text) ?? { answer: find(text) };
    if (text.length <= LONGEST && known.size < MOST) {
      known.set(text, found);
    }
    return found.answer;
  };
}
