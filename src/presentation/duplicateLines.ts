import type { DuplicatesNote } from '../orchestrator/journal/runState.ts';
import { type EventOf, items, own, type TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';

/** New code that repeats what the project had before; nothing if none does. */
export function duplicatesFound(
  { duplicates }: EventOf<'duplicates.found'>,
  t: Translate,
): readonly TranscriptLine[] {
  if (duplicates.length === 0) {
    return [];
  }
  const heading =
    duplicates.length === 1
      ? t('New code repeats what is there already:')
      : t('New code repeats what is there already, {0} times:', duplicates.length);
  return [own('warning', heading), ...items('warning', duplicateWords(duplicates, t), t)];
}

/** A sentence for each: what is new, where, and what it repeats. */
export function duplicateWords(duplicates: DuplicatesNote['found'], t: Translate): string[] {
  return duplicates.map(({ file, kind, line, name, other }) =>
    kind === 'file'
      ? t('{0} is nearly the same file as {1}', file, other.file)
      : kind === 'body'
        ? t(
            '{0} ({1}) does the same as {2} ({3})',
            ...[name, `${file}:${line}`, other.name, `${other.file}:${other.line}`],
          )
        : t(
            '{0} ({1}) exists already in {2}',
            name,
            `${file}:${line}`,
            `${other.file}:${other.line}`,
          ),
  );
}
