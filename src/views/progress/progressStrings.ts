/** The page has no texts of its own: all texts that do not depend on the run are sent from here. */
export function progressStrings(t: (message: string) => string) {
  return {
    start: t('Start Fresh Run'),
    folder: t('Folder'),
    actions: t('Control the run'),
    lanes: t('Lanes'),
    lanesCount: t('Agents at once'),
    moreLanes: t('One more agent at once'),
    fewerLanes: t('One agent fewer at once'),
    lanesHelp: t('Point at a bar, or select one with the arrow keys.'),
    landing: t('Landing'),
    landings: t('Checks and landings'),
    queue: t('Landing queue'),
    emptyQueue: t('Nothing waits to land.'),
    cameBack: t('Came back'),
    laneColumn: t('Lane'),
    storyColumn: t('Story'),
    beganColumn: t('Began'),
    workedColumn: t('Worked'),
    waitedColumn: t('Waited to land'),
    resultColumn: t('Result'),
    run: t('This run'),
    activity: t('Activity'),
    noActivity: t('Nothing yet.'),
    charts: t('Over the iterations'),
    noCharts: t('Shown after the first iteration.'),
    showTable: t('Show as table'),
    iterationColumn: t('Iteration'),
    leftColumn: t('Stories left'),
    costColumn: t('Cost'),
    sumColumn: t('Total cost'),
    budget: t('Budget'),
    prompt: t('What the last prompt contained'),
    openPrompt: t('Open the whole prompt'),
    showNextPrompt: t('Show the next prompt…'),
    timeline: t('Iterations'),
    noIterations: t('None yet.'),
    newer: t('Show newer'),
    older: t('Show older'),
    /** `{0}` number, `{1}` outcome. */
    iterationHeading: t('Iteration {0}: {1}'),
    /** `{0}` label of the button, `{1}` number of the iteration. */
    ofIteration: t('{0} of iteration {1}'),
    documents: {
      openIterationChanges: t('Changes'),
      openPrompt: t('Prompt'),
      openTranscript: t('Transcript'),
      openCheckOutput: t('Check output'),
    },
    /** Label of the read-out announcements. */
    announced: t('Updates of the run'),
    /** `{0}` hash, `{1}` subject. */
    openCommit: t('Open the changes of commit {0}: {1}'),
    /** `{0}` title, `{1}` tokens, `{2}` share. */
    openSection: t('{0}: {1} tokens, {2} of the prompt'),
    answer: t('Your answer'),
    /** `{0}` a time. */
    goesOnIn: t('Continues at {0}, in {1}.'),
    emptyTitle: t('No run yet'),
    emptyText: t(
      'Ralph works through the stories in prd.json, with a fresh agent for each iteration. Its progress appears here.',
    ),
    seconds: t('{0} s'),
    minutes: t('{0} min {1} s'),
    hours: t('{0} h {1} min'),
  };
}
