import type { Story } from './story.ts';

const NOTE = /Reported to Ralph Fresh as (DISC-\d+-\d+-\d+)(?![\d-])/g;

/** What is written into a story whose tool numbers its stories: by the report it is known again, and not added twice. */
export function reportNote(report: string): string {
  return `Reported to Ralph Fresh as ${report}`;
}

/** The id of the report that a story comes from, if its text says so. What the agent wrote stands before the note. */
export function notedReport({ description }: Pick<Story, 'description'>): string | undefined {
  return [...description.matchAll(NOTE)].at(-1)?.[1];
}

/** Whether an id is that of a report, and not one that a tool gave. */
export function isReportId(id: string): boolean {
  return /^DISC-\d+-\d+-\d+$/.test(id);
}

/** The ids of stories, and of the reports that they come from. */
export function idsWithReports(stories: readonly Story[]): ReadonlySet<string> {
  return new Set(
    stories.flatMap(story => {
      const report = notedReport(story);
      return report === undefined ? [story.id] : [story.id, report];
    }),
  );
}
