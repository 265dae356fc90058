import { createHash } from 'node:crypto';
import { linkIn } from '../formats/beadsReady.ts';
import { type Entry, isEntry, ownId } from '../formats/prdEntry.ts';
import { isReportId, reportNote } from '../reportNote.ts';
import type { NewStory } from './newStory.ts';

/** The priority of an issue that says none, as in `bd create`. */
const USUAL_PRIORITY = 2;
/** `bd` makes hashes of 3 to 8 characters, and only so long ones in a tracker with very many issues. */
const HASH_LENGTH = 6;

/**
 * The id of a new issue, as `bd` makes them: the prefix of the others, and a hash, here that of the report. `bd` refuses
 * a file with other prefixes.
 * @param id of a report; an issue that `bd` has made already keeps its id
 * @returns `undefined` if the others have no prefix
 */
export function nextIssueId(issues: readonly Entry[], { id }: NewStory): string | undefined {
  const prefix = isReportId(id) ? usualPrefix(issues) : undefined;
  if (prefix === undefined) {
    return undefined;
  }
  // Also none that somebody waits for: it would be another issue.
  const used = new Set(
    issues.flatMap(issue => [
      ownId(issue),
      ...relationsOf(issue).map(relation => linkIn(relation, issue)?.to),
    ]),
  );
  for (let attempt = 0; ; attempt++) {
    const hash = hashOf(`${id} ${attempt}`);
    // Other hashes could be a word or a number to `bd`, and so a part of the prefix or a count.
    if (/\d/.test(hash) && /[a-z]/.test(hash) && !used.has(`${prefix}-${hash}`)) {
      return `${prefix}-${hash}`;
    }
  }
}

function hashOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return BigInt(`0x${digest}`).toString(36).slice(-HASH_LENGTH);
}

/** What most ids have before their last hyphen: `shop` of `shop-a1b` and of its part `shop-a1b.2`. */
function usualPrefix(issues: readonly Entry[]): string | undefined {
  const counts = new Map<string, number>();
  for (const issue of issues) {
    const [, prefix] = /^(.+)-[a-z0-9]+(?:\.\d+)*$/is.exec(ownId(issue) ?? '') ?? [];
    if (prefix !== undefined) {
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0];
}

/** An issue as `bd` writes it, as far as only a person and not `bd` decides, with its dates where the others have some. */
export function newIssue({ at, from, id, report, title, why }: NewStory, issues: readonly Entry[]) {
  const dateFor = (entries: readonly Entry[], key: string) =>
    entries.some(entry => Object.hasOwn(entry, key)) ? at?.toISOString() : undefined;
  const note = report === undefined ? undefined : reportNote(report);
  const description = [why, note].filter(text => text !== undefined).join('\n\n');
  return {
    id,
    title,
    description: description === '' ? undefined : description,
    status: 'open',
    priority: USUAL_PRIORITY,
    issue_type: 'task',
    created_at: dateFor(issues, 'created_at'),
    updated_at: dateFor(issues, 'updated_at'),
    dependencies:
      from === undefined
        ? undefined
        : [
            {
              issue_id: id,
              depends_on_id: from,
              type: 'discovered-from',
              created_at: dateFor(issues.flatMap(relationsOf), 'created_at'),
            },
          ],
  };
}

function relationsOf(issue: Entry): readonly Entry[] {
  const list = issue['dependencies'];
  return Array.isArray(list) ? list.filter(isEntry) : [];
}
