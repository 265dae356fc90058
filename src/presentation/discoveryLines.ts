import { shorten } from '../base/text.ts';
import type { KnownDiscovery } from '../orchestrator/journal/discoveries.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { MAX_LINE, own, type TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';

type DiscoveryEvent = Extract<RunEvent, { type: `discovery.${string}` }>;

/** What is said of work that agents find. */
export function discoveryLines(event: DiscoveryEvent, t: Translate): readonly TranscriptLine[] {
  switch (event.type) {
    case 'discovery.reported':
      return [own('plain', t('Discovered: {0} ({1})', shorten(event.title, MAX_LINE), event.id))];
    case 'discovery.accepted':
      return [
        own(
          'plain',
          event.by === 'person'
            ? t('A person has accepted {0}', event.id)
            : t('{0} is accepted, as the settings say', event.id),
        ),
      ];
    case 'discovery.added':
      return [own('plain', t('{0} is in the story file now', event.storyId))];
    case 'discovery.refused':
      return [
        own(
          'warning',
          t('{0} could not be added: {1}', event.id, shorten(t.said(event.reason), MAX_LINE)),
        ),
      ];
    case 'discovery.edited':
      return [own('plain', t('{0} is now: {1}', event.id, shorten(event.title, MAX_LINE)))];
    case 'discovery.dropped':
      return [own('plain', t('A person has dropped {0}', event.id))];
  }
}

/** Where it comes from and why, in one line; '' if neither is known. */
export function discoveryOrigin(
  { from, iteration, why }: Pick<KnownDiscovery, 'from' | 'iteration' | 'why'>,
  t: Translate,
): string {
  const found =
    from === undefined
      ? ''
      : iteration === undefined
        ? t('Discovered during {0}', shorten(from, 80))
        : t('Discovered during {0}, iteration {1}', shorten(from, 80), iteration);
  return [found, shorten(why ?? '', MAX_LINE)].filter(part => part !== '').join(': ');
}
