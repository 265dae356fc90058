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
    case 'files':
      return t('files next to the tasks: {0}', named(loss.names, t));
    case 'repeatedKeys':
      return loss.lines.length === 1
        ? t('a key that is there twice, on line {0}', String(loss.lines[0]))
        : t('keys that are there twice, on the lines {0}', named(loss.lines.map(String), t));
    case 'documents':
      return t(
        'the documents next to the list ({0}); agents would not be led to them',
        named(loss.names, t),
      );
    case 'lines':
      return loss.count === 1
        ? t('1 line of comments or other text')
        : t('{0} lines of comments or other text', loss.count);
    case 'notRead': {
      const { files, lines } = loss;
      if (files !== undefined) {
        const places = files.map((file, index) => `${shorten(file, MAX_NAME)}:${lines[index]}`);
        return places.length === 1
          ? t('an entry that is not read as a story: {0}', listed(places, t))
          : t('entries that are not read as stories: {0}', listed(places, t));
      }
      return lines.length === 1
        ? t('an item that is not read as a story, on line {0}', String(lines[0]))
        : t('items that are not read as stories, on the lines {0}', named(lines.map(String), t));
    }
    default:
      return assertNever(loss);
  }
}

function factWords(fact: LostFact, names: readonly string[], t: Translate): string {
  const words: Readonly<Record<LostFact, string>> = {
    id: t('the id, which such a file cannot hold in this form'),
    title: t('the exact title'),
    description: t('the description'),
    criteria: t('acceptance criteria'),
    criteriaAsText: t('acceptance criteria, which become text of the description'),
    criteriaStates: t('which acceptance criteria are done'),
    done: t('that they are done'),
    status: t('the word of the status'),
    parked: t('that they are put aside; agents would work on them'),
    priority: t('the priority, which the order in the new file says now'),
    dependsOn: t('what they wait for'),
    epic: t('the epic'),
    otherEpic: t('that they have no epic: the group "Other stories" is added for them'),
    model: t('the model'),
    effort: t('the effort'),
    maxTurns: t('the number of turns'),
    discoveredFrom: t('what they were discovered from'),
    details: t('what the files of the stories describe; agents would not be led to them'),
    optional: t('that they are optional'),
    nesting: t('that they are parts of other items'),
    sections: t('other sections ({0})', named(names, t)),
    keys: t('other keys ({0})', named(names, t)),
  };
  return words[fact];
}

function headingWords(fact: 'project' | 'branchName' | 'description', t: Translate): string {
  const words: Readonly<Record<typeof fact, string>> = {
    project: t('the name of the project'),
    branchName: t('the branch'),
    description: t('the description of the project'),
  };
  return words[fact];
}

function named(names: readonly string[], t: Translate): string {
  const shown = names.slice(0, MAX_NAMED).map(name => shorten(withoutControls(name), MAX_NAME));
  return listed([...shown, ...names.slice(MAX_NAMED)], t);
}

/** @param names short, and without what does something to a terminal */
function listed(names: readonly string[], t: Translate): string {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  return names.length > MAX_NAMED ? t('{0} and {1} more', shown, names.length - MAX_NAMED) : shown;
}
