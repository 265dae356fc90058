import type { Edit } from 'jsonc-parser';
import { isMap } from 'yaml';
import type { BacklogSettings } from './backlogSettings.ts';
import type { PlacedTask } from './backlogTask.ts';
import { fieldSpan, setText } from './frontMatter.ts';
import type { Span } from './jsonOutline.ts';
import type { StoryPart, StoryParts } from './storyFormat.ts';
import { parseYaml } from './yamlDocument.ts';
import { yamlParts } from './yamlParts.ts';

/**
 * The parts of tasks, each in the part of its file. Only the lines of one key are read as YAML, because the rest may be
 * none. The name of a file begins with the id, so that nobody but the tool may choose another one.
 *
 * @param meant the id of the task that a dependency means; `undefined` if nothing is left to wait for
 */
export function backlogParts(
  placed: readonly PlacedTask[],
  { openStatus }: BacklogSettings,
  meant: (id: string) => string | undefined,
): StoryParts {
  function partsOf(position: number, key: string) {
    const { part, task, text } = placed[position] as PlacedTask;
    const span = fieldSpan(text, task.matter, key) ?? { start: 0, end: 0 };
    const own = text.slice(span.start, span.end);
    const parsed = parseYaml(own);
    const root = 'message' in parsed ? undefined : parsed.document.contents;
    const parts = yamlParts(own, () => (isMap(root) ? root : undefined));
    return { parts, offset: part.start + span.start };
  }

  return {
    openWord: openStatus,
    field: (position, key = 'status') => {
      const { offset, parts } = partsOf(position, key);
      const { part, task, text } = placed[position] as PlacedTask;
      const found = parts.field(0, key);
      if (found === undefined) {
        return undefined;
      }
      const { span, whole } = moved(found, offset);
      const canWrite = key !== 'id' && setText(text, task.matter, key, openStatus) !== undefined;
      const write = (value: string) =>
        movedEdit(setText(text, task.matter, key, value) as Edit, part.start);
      return { span, whole, write: canWrite ? write : undefined };
    },
    dependencies: position => {
      const { offset, parts } = partsOf(position, 'dependencies');
      return parts.dependencies(0).flatMap(found => {
        const id = meant(found.id.trim());
        return id === undefined ? [] : [{ ...moved(found, offset), id }];
      });
    },
  };
}

/** The part in the text that has it from an offset on. */
function moved<T extends StoryPart>({ removal, span, whole, write, ...rest }: T, offset: number) {
  const at = ({ end, start }: Span) => ({ start: start + offset, end: end + offset });
  return {
    ...rest,
    span: at(span),
    whole: at(whole),
    removal: removal && movedEdit(removal, offset),
    write: write && ((value: string) => movedEdit(write(value), offset)),
  };
}

function movedEdit(edit: Edit, offset: number): Edit {
  return { ...edit, offset: edit.offset + offset };
}
