import { Emitter } from '../../base/emitter.ts';
import type { Question } from '../../orchestrator/journal/storyNotes.ts';

/*
 * What a person is answering at the moment, by folder: an alert would ask them a second time. Shared by the commands,
 * which are loaded on demand, and the alerts.
 */

/** The person has answered, or has canceled. */
export interface Answered {
  /** Absolute path. */
  readonly folder: string;
  /** Iterations of the questions that they have seen. */
  readonly seen: ReadonlySet<number>;
}

const endEmitter = new Emitter<Answered>();
const seenIn = new Map<string, Set<number>>();

export const onDidEndAnswering = endEmitter.event;

/** Whether a person is answering questions of this folder. */
export function isAnswering(folder: string): boolean {
  return seenIn.has(folder);
}

/** The person sees these questions. */
export function noteSeen(folder: string, questions: readonly Question[]): void {
  for (const { iteration } of questions) {
    seenIn.get(folder)?.add(iteration);
  }
}

/** Answers questions of a folder. A second call during the first one belongs to it. */
export async function whileAnswering<T>(folder: string, answer: () => Promise<T>): Promise<T> {
  if (seenIn.has(folder)) {
    return answer();
  }
  const seen = new Set<number>();
  seenIn.set(folder, seen);
  try {
    return await answer();
  } finally {
    seenIn.delete(folder);
    endEmitter.fire({ folder, seen });
  }
}
