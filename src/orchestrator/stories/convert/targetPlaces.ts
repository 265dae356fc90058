import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { formatOf } from '../formats/formatOf.ts';
import type { StoryFormatName } from '../story.ts';
import { isSameFile } from '../targetFile.ts';
import { TARGETS, type Target } from './conversion.ts';

/** Where converted stories are written if nobody names a file: a place where a run finds them. */
export function usualPlace(target: Target, source: string): string {
  const places: Readonly<Record<Target, string>> = {
    prd: path.join('.omc', 'prd.json'),
    yaml: path.join('.claude', 'orchestration', `${path.parse(source).name}.yaml`),
    plan: 'IMPLEMENTATION_PLAN.md',
    tasks: path.join('.ralph', 'tasks.jsonl'),
  };
  return places[target];
}

/**
 * The formats that stories can be converted to at their usual place: not where the source is there itself, by whatever
 * name it was chosen.
 * @param folder absolute path of the workspace
 * @param source absolute path of the file or folder with the stories
 */
export async function targetsFor(folder: string, source: string): Promise<Target[]> {
  const isSource = await Promise.all(
    TARGETS.map(target => isSameFile(path.join(folder, usualPlace(target, source)), source)),
  );
  return TARGETS.filter((_, index) => isSource[index] === false);
}

/** How a target is recognized when it is read. */
const READ_AS: Readonly<
  Record<Target, { readonly name: StoryFormatName; readonly ending: string }>
> = {
  prd: { name: 'prd', ending: '.json' },
  yaml: { name: 'orchestration', ending: '.yaml' },
  plan: { name: 'plan', ending: '.md' },
  tasks: { name: 'tasks', ending: '.jsonl' },
};

/**
 * @param out where somebody would like to have converted stories
 * @throws {HumanError} if nothing could read them there, because the name belongs to another format
 */
export function requireFitName(out: string, text: string, target: Target): void {
  const { ending, name } = READ_AS[target];
  if (formatOf(out, text).name !== name) {
    throw new HumanError(
      say(
        '{0} could not be read as {1}, because files of this name have another format. Choose a name that ends with {2}, such as --out {3}.',
        out,
        target,
        ending,
        path.basename(usualPlace(target, 'stories')),
      ),
    );
  }
}
