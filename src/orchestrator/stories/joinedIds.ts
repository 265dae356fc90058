import { isNumberId } from '../../base/numberId.ts';
import { once } from '../../base/once.ts';
import { plainText } from './formats/plainText.ts';
import type { Story } from './story.ts';

/** Of ids in the example of a list. */
const MAX_SHOWN = 8;

/** The ids that stand in one text; `undefined` unless each of its parts is one. Ids may have spaces. */
export function joinedIds(
  text: string,
  idOf: (name: string) => string | undefined,
): readonly string[] | undefined {
  return [/[,;]/, /[\s,;]+/]
    .map(between => text.split(between).map(part => idOf(part.trim())))
    .find((ids): ids is string[] => ids.length > 1 && ids.every(id => id !== undefined));
}

/**
 * Finds the id that a name means, in upper or lower case; in a folder of Backlog.md, where `TASK-7`, `task-007` and `7`
 * are the same, also by its number.
 */
export function idsByName(
  stories: readonly Pick<Story, 'file' | 'id'>[],
): (name: string) => string | undefined {
  const ids = once(() => {
    const named = stories.filter(({ id }) => !isNumberId(id));
    const forms = named.flatMap(({ file, id }) => {
      const form = plain(id);
      const number = file === undefined ? undefined : /^[a-z]+-(\d[\d.]*)$/.exec(form)?.[1];
      return [form, ...(number === undefined ? [] : [number])].map(name => [name, id] as const);
    });
    return new Map([...forms, ...named.map(({ id }) => [id, id] as const)]);
  });
  return name => ids().get(name) ?? ids().get(plain(name));
}

/** Without case, and zeros before a number. */
function plain(id: string): string {
  return id.toLowerCase().replace(/^([a-z]+-)?0+(?=\d)/, '$1');
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
