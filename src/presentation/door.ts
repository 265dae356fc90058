/** Where the person reads it: next steps are commands of a terminal, or of the editor's window. */
export type Door = 'terminal' | 'window';
