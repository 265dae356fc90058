import { plainText } from './formats/plainText.ts';

/** Of ids in the example of a list. */
const MAX_SHOWN = 8;

/** The ids that stand in one text; `undefined` unless each of its parts is one. Ids may have spaces. */
export function joinedIds(
  text: string,
  hasId: (id: string) => boolean,
): readonly string[] | undefined {
  return [/[,;]/, /[\s,;]+/]
    .map(between => text.split(between).map(part => part.trim()))
    .find(parts => parts.length > 1 && parts.every(hasId));
}

/**
 * Ids as a list in JSON, which YAML accepts as well.
 * @param isPlain without quotation marks, as Backlog.md writes it
 */
export function listOfIds(ids: readonly string[], isPlain: boolean): string {
  const items = ids
    .slice(0, MAX_SHOWN)
    .map(id =>
      isPlain || /^[1-9]\d{0,8}$/.test(id) ? plainText(id) : JSON.stringify(plainText(id)),
    );
  return `[${[...items, ...(ids.length > MAX_SHOWN ? ['…'] : [])].join(', ')}]`;
}
