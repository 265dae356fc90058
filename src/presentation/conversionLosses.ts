import { assertNever } from '../base/assertNever.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { Loss, LostFact } from '../orchestrator/stories/convert/conversion.ts';
import type { Translate } from './translate.ts';

/** Most ids, keys or lines in one sentence: a person agrees to what it says. More of them would hide the next line. */
const MOST_NAMED = 50;
/** In a dialog of the system, which does not scroll: its buttons would be off the screen. */
export const MOST_IN_DIALOG = 8;
const MAX_NAME = 60;

/**
 * What a conversion loses, a line for each fact.
 * @param most how many ids, keys or lines one line names
 */
export function lossLines(losses: readonly Loss[], t: Translate, most = MOST_NAMED): string[] {
  return losses.map(loss => lossLine(loss, t, most));
}

function lossLine(loss: Loss, t: Translate, most: number): string {
  const named = (names: readonly string[]) =>
    listed(
      names.slice(0, most).map(name => shorten(withoutControls(name), MAX_NAME)),
      names.length - most,
      t,
    );
  switch (loss.kind) {
    case 'story': {
      const { fact, names = [], storyIds } = loss;
      return t('{0}: {1}', factWords(fact, named(names), t), named(storyIds));
    }
    case 'heading':
      return headingWords(loss.fact, t);
    case 'order':
      return t('the order in which stories have their turns');
    case 'fileKeys':
      return t('keys of the file: {0}', named(loss.names));
    case 'files':
      return t('files next to the tasks: {0}', named(loss.names));
    case 'repeatedKeys':
      return loss.lines.length === 1
        ? t('a key that is there twice, on line {0}', String(loss.lines[0]))
        : t('keys that are there twice, on the lines {0}', named(loss.lines.map(String)));
    case 'documents':
      return t(
        'the documents next to the list ({0}); agents would not be led to them',
        named(loss.names),
      );
    case 'lines':
      return loss.count === 1
        ? t('1 line of comments or other text')
        : t('{0} lines of comments or other text', loss.count);
    case 'notRead': {
      const { files, lines } = loss;
      if (files !== undefined) {
        const places = files
          .slice(0, most)
          .map((file, index) => `${shorten(file, MAX_NAME)}:${lines[index]}`);
        const all = listed(places, files.length - most, t);
        return files.length === 1
          ? t('an entry that is not read as a story: {0}', all)
          : t('entries that are not read as stories: {0}', all);
      }
      return lines.length === 1
        ? t('an item that is not read as a story, on line {0}', String(lines[0]))
        : t('items that are not read as stories, on the lines {0}', named(lines.map(String)));
    }
    default:
      return assertNever(loss);
  }
}

function factWords(fact: LostFact, names: string, t: Translate): string {
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
    sections: t('other sections ({0})', names),
    keys: t('other keys ({0})', names),
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

/** @param shown short, and without what does something to a terminal */
function listed(shown: readonly string[], more: number, t: Translate): string {
  const names = shown.join(', ');
  return more > 0 ? t('{0} and {1} more', names, more) : names;
}
