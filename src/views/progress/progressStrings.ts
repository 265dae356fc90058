import { l10n } from 'vscode';
import type { ProgressStrings } from './protocol.ts';

/** The page has no texts of its own: all texts that do not depend on the run are sent from here. */
export function progressStrings(): ProgressStrings {
  return {
    start: l10n.t('Start Fresh Run'),
    folder: l10n.t('Folder'),
    actions: l10n.t('Control the run'),
    run: l10n.t('This run'),
    activity: l10n.t('Activity'),
    noActivity: l10n.t('Nothing yet.'),
    charts: l10n.t('Over the iterations'),
    noCharts: l10n.t('Shown after the first iteration.'),
    showTable: l10n.t('Show as table'),
    iterationColumn: l10n.t('Iteration'),
    leftColumn: l10n.t('Stories left'),
    costColumn: l10n.t('Cost'),
    sumColumn: l10n.t('Total cost'),
    budget: l10n.t('Budget'),
    prompt: l10n.t('What the last prompt contained'),
    openPrompt: l10n.t('Open the whole prompt'),
    timeline: l10n.t('Iterations'),
    noIterations: l10n.t('None yet.'),
    newer: l10n.t('Show newer'),
    older: l10n.t('Show older'),
    iterationHeading: l10n.t('Iteration {0}: {1}'),
    ofIteration: l10n.t('{0} of iteration {1}'),
    documents: {
      openIterationChanges: l10n.t('Changes'),
      openPrompt: l10n.t('Prompt'),
      openTranscript: l10n.t('Transcript'),
      openCheckOutput: l10n.t('Check output'),
    },
    announced: l10n.t('Updates of the run'),
    openCommit: l10n.t('Open the changes of commit {0}: {1}'),
    openSection: l10n.t('{0}: {1} tokens, {2} of the prompt'),
    answer: l10n.t('Your answer'),
    goesOnIn: l10n.t('Continues at {0}, in {1}.'),
    emptyTitle: l10n.t('No run yet'),
    emptyText: l10n.t(
      'Ralph works through the stories in prd.json, with a fresh agent for each iteration. Its progress appears here.',
    ),
    seconds: l10n.t('{0} s'),
    minutes: l10n.t('{0} min {1} s'),
    hours: l10n.t('{0} h {1} min'),
  };
}
