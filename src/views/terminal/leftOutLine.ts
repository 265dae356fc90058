import { l10n } from 'vscode';
import { own, type TranscriptLine } from '../../presentation/transcriptLine.ts';

/** Says that older lines of agents are missing above it, and where they are. */
export function leftOutLine(): TranscriptLine {
  return own(
    'dim',
    l10n.t(
      'Older lines of agents are left out above. They are in the transcripts, in the Iterations view.',
    ),
  );
}
