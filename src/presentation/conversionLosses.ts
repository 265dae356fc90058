import { assertNever } from '../base/assertNever.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { Loss, LostFact } from '../orchestrator/stories/convert/conversion.ts';
import type { Translate } from './translate.ts';

/** Most ids, keys or lines in one sentence. */
const MAX_NAMED = 8;
const MAX_NAME = 60;

/** What a conversion loses, a line for each fact. */
export function lossLines(losses: readonly Loss[], t: Translate): string[] {
  return losses.map(loss => lossLine(loss, t));
}

function lossLine(loss: Loss, t: Translate): string {
  switch (loss.kind) {
    case 'story': {
      const { fact, names = [], storyIds } = loss;
      return t('{0}: {1}', factWords(fact, names, t), named(storyIds, t));
    }
    case 'heading':
      return headingWords(loss.fact, t);
    case 'order':
      return t('the order in which stories have their turns');
    case 'fileKeys':
      return t('keys of the file: {0}', named(loss.names, t));
    case 'lines':
      return loss.count === 1
        ? t('1 line of comments or other text')
        : t('{0} lines of comments or other text', loss.count);
    case 'notRead':
      return loss.lines.length === 1
        ? t('an item that is not read as a story, on line {0}', String(loss.lines[0]))
        : t(
            'items that are not read as stories, on the lines {0}',
            named(loss.lines.map(String), t),
          );
    default:
      return assertNever(loss);
  }
}

function factWords(fact: LostFact, names: readonly string[], t: Translate): string {
  switch (fact) {
    case 'id':
      return t('the id, which such a file cannot hold in this form');
    case 'title':
      return t('the exact title');
    case 'description':
      return t('the description');
    case 'criteria':
      return t('acceptance criteria');
    case 'criteriaAsText':
      return t('acceptance criteria, which become text of the description');
    case 'criteriaStates':
      return t('which acceptance criteria are done');
    case 'done':
      return t('that they are done');
    case 'status':
      return t('the word of the status');
    case 'parked':
      return t('that they are put aside; agents would work on them');
    case 'priority':
      return t('the priority; the order stays');
    case 'dependsOn':
      return t('what they wait for');
    case 'epic':
      return t('the epic');
    case 'model':
      return t('the model');
    case 'effort':
      return t('the effort');
    case 'maxTurns':
      return t('the number of turns');
    case 'discoveredFrom':
      return t('what they were discovered from');
    case 'details':
      return t('what the files of the stories describe; agents would not be led to them');
    case 'keys':
      return t('other keys ({0})', named(names, t));
    default:
      return assertNever(fact);
  }
}

function headingWords(fact: 'project' | 'branchName' | 'description', t: Translate): string {
  switch (fact) {
    case 'project':
      return t('the name of the project');
    case 'branchName':
      return t('the branch');
    case 'description':
      return t('the description of the project');
    default:
      return assertNever(fact);
  }
}

function named(names: readonly string[], t: Translate): string {
  const shown = names
    .slice(0, MAX_NAMED)
    .map(name => shorten(withoutControls(name), MAX_NAME))
    .join(', ');
  return names.length > MAX_NAMED ? t('{0} and {1} more', shown, names.length - MAX_NAMED) : shown;
}
