import { idWithTitle } from '../../base/storyTitle.ts';
import type { Folder } from './folder.ts';

/** A story's id and title, as far as its file has been read or a run has named it. */
export function storyName(
  {
    runs,
    stories,
  }: {
    readonly runs: Pick<Folder['runs'], 'events'>;
    readonly stories: Pick<Folder['stories'], 'list'>;
  },
  storyId: string,
): string {
  const title =
    stories.list.find(({ id }) => id === storyId)?.title ??
    runs.events
      .flatMap(event =>
        event.type === 'iteration.started' && event.storyId === storyId ? [event.storyTitle] : [],
      )
      .at(-1);
  return idWithTitle(storyId, title ?? '');
}
