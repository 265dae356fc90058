import { type Document, parseDocument } from 'yaml';
import { LIST } from '../formats/bmadStrays.ts';
import { readFrontMatter, valueIn } from '../formats/frontMatter.ts';
import { readOrchestration, tasksOf } from '../formats/orchestrationPhases.ts';
import { type Entry, isEntry } from '../formats/prdEntry.ts';
import { readTags, readTasks } from '../formats/taskMasterTasks.ts';
import { MAX_ALIASES } from '../formats/yamlDocument.ts';
import type { Story } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';
import { sprintEntry } from './otherSprintKeys.ts';

/** The entries of a whole file, by position: its stories are asked one after another. */
const known = new WeakMap<ParsedStoryFile, readonly (Entry | undefined)[]>();

/** A story as it is in its file, with all of its keys; `undefined` if it has none there. */
export function entryOf(parsed: ParsedStoryFile, { position }: Story): Entry | undefined {
  switch (parsed.file.format) {
    case 'plan':
    case 'specsIndex':
      return undefined;
    case 'bmad':
      return entriesOf(parsed, () => sprintEntries(parsed))[position];
    case 'orchestration':
      // The text of one task does not say what the anchors elsewhere mean.
      return entriesOf(parsed, () =>
        tasksOf(readOrchestration(parsed.text)).map(({ entry }) => entry),
      )[position];
    case 'taskMaster':
      // The text of one task would be that of its subtasks, too.
      return entriesOf(parsed, () => taskMasterEntries(parsed))[position];
    default:
      return entryAt(parsed, position);
  }
}

/** What whole files say. */
const roots = new WeakMap<ParsedStoryFile, { readonly root: unknown }>();

/** What a whole file in JSON or YAML says. It is read once: several losses are looked for in it. */
export function rootOf(parsed: ParsedStoryFile): unknown {
  const { root } = roots.get(parsed) ?? { root: dataIn(parsed.text) };
  roots.set(parsed, { root });
  return root;
}

/** What a text in JSON or YAML says; `undefined` if it is neither. */
export function dataIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const document = documentIn(text);
    try {
      return document.errors.length === 0
        ? document.toJS({ maxAliasCount: MAX_ALIASES })
        : undefined;
    } catch {
      return undefined; // An alias without an anchor.
    }
  }
}

/** A text in YAML. The library compares each key with all before it, which takes seconds for thousands of stories. */
export function documentIn(text: string): Document {
  return parseDocument(text, { logLevel: 'silent', merge: true, uniqueKeys: false });
}

function entriesOf(
  parsed: ParsedStoryFile,
  read: () => readonly (Entry | undefined)[],
): readonly (Entry | undefined)[] {
  const found = known.get(parsed) ?? read();
  known.set(parsed, found);
  return found;
}

function sprintEntries(parsed: ParsedStoryFile): Entry[] {
  const { file } = parsed;
  const root = rootOf(parsed);
  const list = isEntry(root) ? root[LIST] : undefined;
  return (file.kind === 'stories' ? file.stories : []).map(({ id }) =>
    sprintEntry(isEntry(list) ? list[id] : undefined),
  );
}

function taskMasterEntries(parsed: ParsedStoryFile): (Entry | undefined)[] {
  const { text } = parsed;
  const tasks = readTags(text, rootOf(parsed)).tags.flatMap(tag => readTasks(text, tag));
  // Also with the keys that Task Master does not know.
  return tasks.map(({ index, list }) => {
    const entry = list.items[index];
    return isEntry(entry) ? entry : undefined;
  });
}

function entryAt({ file, spanOf, text }: ParsedStoryFile, position: number): Entry | undefined {
  const { end, start } = spanOf(position);
  const own = text.slice(start, end);
  const value = file.format === 'backlog' ? dataInFrontMatter(own) : dataIn(own);
  return isEntry(value) ? value : undefined;
}

function dataInFrontMatter(text: string): unknown {
  const matter = readFrontMatter(text);
  // Tools also read what is no YAML as a whole, such as `assignee: @anna`.
  return (
    matter &&
    (dataIn(matter.block) ??
      Object.fromEntries(matter.fields.map(({ key, raw }) => [key, valueIn(matter, key) ?? raw])))
  );
}
