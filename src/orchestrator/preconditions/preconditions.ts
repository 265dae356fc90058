import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say, type Words } from '../../base/say.ts';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { shorten } from '../../base/text.ts';
import { beads } from './beads.ts';
import { branch } from './branch.ts';
import { checks } from './checks.ts';
import { disk } from './disk.ts';
import { doneElsewhere } from './doneElsewhere.ts';
import { flakyChecks } from './flakyChecks.ts';
import { head } from './head.ts';
import { hooks } from './hooks.ts';
import { identity } from './identity.ts';
import { landed } from './landed.ts';
import { lanes } from './lanes.ts';
import { otherMode } from './otherMode.ts';
import { placesFolder } from './placesFolder.ts';
import { type Ground, type Judgement, type Precondition, sentenceOf } from './precondition.ts';
import { program } from './program.ts';
import { progress } from './progress.ts';
import { repository } from './repository.ts';
import { reviewer } from './reviewer.ts';
import { signing } from './signing.ts';
import { state } from './state.ts';
import { template } from './template.ts';
import { trackedState } from './trackedState.ts';
import { unfinished } from './unfinished.ts';
import { unread } from './unread.ts';
import { unseen } from './unseen.ts';

/** All preconditions of a run, in the order in which a person should fix them. */
const PRECONDITIONS: readonly Precondition[] = [
  repository,
  state,
  trackedState,
  otherMode,
  identity,
  unfinished,
  branch,
  head,
  lanes,
  doneElsewhere,
  landed,
  placesFolder,
  unseen,
  hooks,
  signing,
  unread,
  template,
  progress,
  checks,
  flakyChecks,
  program,
  reviewer,
  beads,
  disk,
];

/** In the same order. */
export const PRECONDITION_IDS: readonly string[] = PRECONDITIONS.map(({ id }) => id);

/** A result of a precondition. */
export interface Found {
  readonly id: string;
  readonly judgement: Judgement;
}

/**
 * Checks the preconditions of a run.
 * @param isWanted selects preconditions
 */
export async function lookAtPreconditions(
  ground: Ground,
  isWanted: (id: string) => boolean = () => true,
): Promise<readonly Found[]> {
  const wanted = PRECONDITIONS.filter(({ id }) => isWanted(id));
  if (wanted.length === 0) {
    return [];
  }
  const repositoryNow = judge(repository, ground);
  const found = await Promise.all(
    wanted.map(async precondition => ({
      ...precondition,
      judgements: await (precondition === repository ? repositoryNow : judge(precondition, ground)),
    })),
  );
  // Outside of a repository, the others only repeat that.
  const hasGit = (await repositoryNow).every(({ level }) => level !== 'refuses');
  return found.flatMap(({ id, judgements, needsGit }) =>
    needsGit && !hasGit ? [] : judgements.map(judgement => ({ id, judgement })),
  );
}

/**
 * @param isWanted selects preconditions
 * @returns the warnings, as sentences
 * @throws {HumanError} for the first one that prevents the run
 */
export async function requirePreconditions(
  ground: Ground,
  isWanted?: (id: string) => boolean,
): Promise<readonly Words[]> {
  const found = await lookAtPreconditions(ground, isWanted);
  const refusal = found.find(({ judgement }) => judgement.level === 'refuses');
  if (refusal !== undefined) {
    throw new HumanError(sentenceOf(refusal.judgement));
  }
  return found.flatMap(({ judgement }) =>
    judgement.level === 'warns' ? [sentenceOf(judgement)] : [],
  );
}

async function judge(precondition: Precondition, ground: Ground): Promise<readonly Judgement[]> {
  try {
    return [(await precondition.judge(ground)) ?? []].flat();
  } catch (error) {
    const message =
      error instanceof HumanError
        ? error.said
        : (systemRefusal(error) ??
          say('{0} could not be accessed: {1}', precondition.id, shorten(messageOf(error), 300)));
    return [{ level: 'refuses', message }];
  }
}
