/** A function that finds its answer once for each object: thousands of stories may share one list of thousands of ids. */
export function onceEach<Key extends object, Value>(
  find: (key: Key) => Value,
): (key: Key) => Value {
  const found = new Map<Key, { readonly value: Value }>();
  return key => {
    const answer = found.get(key) ?? { value: find(key) };
    found.set(key, answer);
    return answer.value;
  };
}
