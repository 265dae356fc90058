import * as z from 'zod';
import { HELD_REASONS, RETURN_REASONS } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Events of work that was done in a place of its own: how it is kept, and how it lands on the branch. */
export function landingSchemas() {
  const { check, header, iteration, words } = eventFields();
  const story = { iteration, storyId: z.string() };
  return [
    /** An agent's commits, and what it left uncommitted, are held by refs of the user's repository. */
    z.looseObject({
      ...header,
      type: z.literal('work.kept'),
      iteration,
      storyId: z.string().optional(),
      /** Where it began. */
      base: z.string().optional(),
      /** Its last commit; absent if nothing could be kept. */
      head: z.string().optional(),
      /** The ref that holds it. */
      ref: z.string().optional(),
      /** A commit of ours with what was not committed. */
      uncommitted: z.string().optional(),
      /** The commit of ours waits to land. */
      lands: z.literal(true).optional(),
      commits: z.number().int().nonnegative(),
      /** The command of git in whose middle the agent ended (`rebase`): nothing of its work lands. */
      unfinished: z.string().optional(),
      /** Why not everything could be kept. */
      problem: words.optional(),
    }),
    /** An agent says that its story is done; its commits wait to land. */
    z.looseObject({
      ...header,
      ...story,
      type: z.literal('landing.queued'),
      base: z.string(),
      head: z.string(),
      /** A person has settled the conflict of this iteration, which had ended: `head` is the result. */
      by: z.literal('person').optional(),
    }),
    /** The commit that is to land, on this commit of the branch. */
    z.looseObject({
      ...header,
      ...story,
      type: z.literal('landing.candidate'),
      commit: z.string(),
      onto: z.string(),
    }),
    /** Several stories were checked at once, as they would land on top of each other. */
    z.looseObject({
      ...header,
      type: z.literal('stack.checked'),
      commit: z.string(),
      storyIds: z.array(z.string()),
      /** The check that failed; absent if all passed. The folder `join` of the run has the whole output. */
      failed: z.looseObject(check).optional(),
    }),
    z.looseObject({
      ...header,
      ...story,
      type: z.literal('landing.landed'),
      /** Absent if there was nothing to commit. */
      commit: z.string().optional(),
      onto: z.string(),
    }),
    /** The work did not land; the story gets another agent. */
    z.looseObject({
      ...header,
      ...story,
      type: z.literal('landing.returned'),
      reason: z.enum(RETURN_REASONS),
      base: z.string(),
      head: z.string(),
      onto: z.string(),
      /** For `conflict`: relative to the repository's root. */
      files: z.array(z.string()).optional(),
      detail: words.optional(),
    }),
    /** What has landed is kept next to the branch, which cannot follow now. */
    z.looseObject({
      ...header,
      type: z.literal('target.held'),
      branch: z.string(),
      reason: z.enum(HELD_REASONS),
      /** Files of the user that are in the way, relative to the repository's root. */
      files: z.array(z.string()),
      /** For `diverged`: files that git does not track, and that a merge by hand would overwrite. */
      untracked: z.array(z.string()).optional(),
      /** The ref that holds what has landed. */
      ref: z.string(),
      detail: words.optional(),
    }),
    /** The branch has everything that has landed. */
    z.looseObject({
      ...header,
      type: z.literal('target.followed'),
      branch: z.string(),
    }),
    /** The run has condensed the older entries of its progress log. */
    z.looseObject({
      ...header,
      type: z.literal('progress.compacted'),
      file: z.string(),
      linesBefore: z.number().int().nonnegative(),
      linesAfter: z.number().int().nonnegative(),
      /** How many entries were condensed. */
      entries: z.number().int().nonnegative(),
      /** Where the text from before is, relative to the workspace. */
      archive: z.string(),
    }),
    /** A person wants more or fewer agents at once. */
    z.looseObject({
      ...header,
      type: z.literal('lanes.changed'),
      lanes: z.number().int().positive(),
    }),
    /** A person wants no further agent in this lane, or wants them again. */
    z.looseObject({
      ...header,
      type: z.literal('lane.paused'),
      lane: z.number().int().positive(),
      paused: z.boolean(),
    }),
    /** A person wants no further agent for this story, or wants them again. */
    z.looseObject({
      ...header,
      type: z.literal('story.paused'),
      storyId: z.string(),
      paused: z.boolean(),
    }),
    /** A person settles the story's conflict by hand, so no agent starts for it; or gives it back. */
    z.looseObject({
      ...header,
      type: z.literal('story.settling'),
      storyId: z.string(),
      settling: z.boolean(),
      /** The one whose work conflicts. */
      iteration: iteration.optional(),
    }),
  ] as const;
}
