/** Roles of text in a transcript; each door decides how they look. */
export type Style = 'plain' | 'heading' | 'dim' | 'tool' | 'success' | 'warning' | 'error';

export interface TranscriptLine {
  readonly style: Style;
  readonly text: string;
}
