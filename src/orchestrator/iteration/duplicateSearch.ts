import { saidOf } from '../../base/messageOf.ts';
import { say, type Words } from '../../base/say.ts';
import type { CodeSearch } from '../context/codeSearch.ts';
import type { DuplicateReport } from '../context/duplicates/duplicate.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';

/** For all of a search; it runs in parallel with the checks, so hardly anybody waits for it. */
const MAX_SECONDS = 10;

/** The result of a search for duplicates, which never fails. */
export type DuplicateSearch = Promise<DuplicateReport | { readonly problem: Words } | undefined>;

/**
 * Starts to look for what new code repeats, in parallel to whatever follows.
 * @param dir absolute path of a folder in the repository
 * @param commits full hashes; absent: nothing is known, as before the first commit
 */
export async function searchDuplicates(
  code: Pick<CodeSearch, 'duplicates'>,
  dir: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): DuplicateSearch {
  if (from === undefined || to === undefined || from === to) {
    return undefined;
  }
  try {
    return await inTime(code.duplicates(dir, { from, to }));
  } catch (error) {
    return { problem: saidOf(error) };
  }
}

async function inTime<T>(search: Promise<T>): Promise<T | { readonly problem: Words }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ readonly problem: Words }>(resolve => {
    const problem = say('the search took longer than {0} seconds', MAX_SECONDS);
    timer = setTimeout(() => resolve({ problem }), MAX_SECONDS * 1_000);
  });
  try {
    return await Promise.race([search, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Records what a search has found, if there was anything to look at; a problem is only a warning. */
export async function recordDuplicates(scope: Scope, search: DuplicateSearch): Promise<void> {
  const found = await search;
  if (found === undefined) {
    return;
  }
  if ('problem' in found) {
    warn(scope, 'duplicatesUnknown', found.problem);
  } else if (found.looked > 0) {
    scope.append({
      ...{ type: 'duplicates.found', iteration: scope.iteration, storyId: scope.story?.id },
      looked: found.looked,
      duplicates: found.duplicates.map(({ other, ...own }) => ({ ...own, other: { ...other } })),
    });
  }
}
