import * as z from 'zod';
import { PROCESS_END_REASONS } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Of the agents: their processes, what they do and say, and the patience with their calls. */
export function agentSchemas() {
  const { callOf, error, header, ofCall, usage } = eventFields();
  return [
    z.looseObject({
      ...header,
      type: z.literal('agent.started'),
      ...callOf,
      pid: z.number().int().positive(),
      /** Tells this process from a later one with the same pid. */
      startId: z.string().optional(),
      /** The file in the iteration's folder that has what it prints; absent in older journals. */
      stream: z.string().optional(),
      /** The folder of the cgroup that its processes are in, where the system has one. */
      cgroup: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.init'),
      model: z.string().optional(),
      version: z.string().optional(),
      apiKeySource: z.string().optional(),
      sessionId: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.text'),
      text: z.string(),
      /** Characters that were left out at the end; the raw stream has them. */
      cut: z.number().int().positive().optional(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.tool'),
      id: z.string(),
      name: z.string(),
      gist: z.string(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.toolFailed'),
      id: z.string(),
      gist: z.string(),
      head: z.string().optional(),
      lines: z.number().int().positive().optional(),
    }),
    /** What a tool gave back: its first lines at most. Not for those that only write files. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.toolResult'),
      id: z.string(),
      /** Absent for a file that was read. */
      head: z.string().optional(),
      lines: z.number().int().positive(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.retry'),
      attempt: z.number().int(),
      maxAttempts: z.number().int(),
      delayMs: z.number(),
      status: z.number().int().optional(),
      error: z.string(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.denied'),
      tool: z.string(),
      message: z.string(),
    }),
    /** Output that is not the agent's protocol, line by line; `cut` as in agent.text. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.output'),
      text: z.string(),
      cut: z.number().int().positive().optional(),
    }),
    /** It has said more than the journal keeps of one call; what follows is something now and then, and its last words. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.overflow'),
      /** The file in the iteration's folder that has all of it. */
      stream: z.string(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('agent.ended'),
      ...callOf,
      reason: z.enum(PROCESS_END_REASONS),
      exitCode: z.number().int().optional(),
      signal: z.string().optional(),
      durationMs: z.number().nonnegative(),
      /** Processes of this agent that were still running after it ended, and were ended by the loop. */
      leftovers: z.number().int().nonnegative(),
      /** The agent's call failed, by its own result. */
      error: error.optional(),
      /** The file, relative to the workspace, with all of standard error; the message has its last lines. */
      stderr: z.string().optional(),
      /** What this call alone has cost; an iteration may take several. */
      costUsd: z.number().nonnegative().optional(),
      /** It had no result that tells, so cost and usage are estimated from what it printed. */
      costEstimated: z.boolean().optional(),
      turns: z.number().int().nonnegative().optional(),
      usage: usage.optional(),
    }),
    /** The call failed for a moment (server overloaded, connection lost) and is made again in the same iteration. */
    z.looseObject({
      ...header,
      type: z.literal('call.retried'),
      ...callOf,
      attempt: z.number().int().positive(),
      maxAttempts: z.number().int().positive(),
      delayMs: z.number().nonnegative(),
      error,
    }),
    /** The agent could not be started, so another one takes its place for the rest of the run. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.replaced'),
      from: z.string(),
      to: z.string(),
      reason: z.string(),
    }),
    /** The account's usage is used up. Written at the start of the wait and once a minute: the countdown. */
    z.looseObject({
      ...header,
      type: z.literal('limit.waiting'),
      ...callOf,
      /** ISO 8601; when it goes on. */
      until: z.string(),
      remainingMs: z.number().nonnegative(),
      /** Whether the agent named the moment, or the loop will just try again then. */
      known: z.boolean(),
      message: z.string(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('limit.ended'),
      ...callOf,
      by: z.enum(['time', 'person', 'stop']),
    }),
  ] as const;
}
