import * as z from 'zod';
import { PROCESS_END_REASONS } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Events of agents: their processes, what they do and say, retries and waits. */
export function agentSchemas() {
  const { callOf, error, header, ofCall, usage, words } = eventFields();
  /** Of a subagent: an agent that the agent has started itself. Absent for what the agent says and does. */
  const ofSubagent = { parent: subagent().optional() };
  return [
    z.looseObject({
      ...header,
      type: z.literal('agent.started'),
      ...callOf,
      pid: z.number().int().positive(),
      /** Distinguishes this process from a later one with the same pid. */
      startId: z.string().optional(),
      /** The file in the iteration's folder that contains its output; absent in older journals. */
      stream: z.string().optional(),
      /** The folder of the cgroup that contains its processes, if the system has cgroups. */
      cgroup: z.string().optional(),
      /** The part of the budget that is reserved for this call until it ends; absent without a budget. */
      budgetUsd: z.number().nonnegative().optional(),
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
      ...ofSubagent,
      type: z.literal('agent.text'),
      text: z.string(),
      /** Number of characters cut off at the end; the raw stream contains them. */
      cut: z.number().int().positive().optional(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      ...ofSubagent,
      type: z.literal('agent.tool'),
      id: z.string(),
      name: z.string(),
      gist: z.string(),
    }),
    z.looseObject({
      ...header,
      ...ofCall,
      ...ofSubagent,
      type: z.literal('agent.toolFailed'),
      id: z.string(),
      gist: z.string(),
      head: z.string().optional(),
      lines: z.number().int().positive().optional(),
    }),
    /** The first lines of a tool's result. Not recorded for tools that only write files. */
    z.looseObject({
      ...header,
      ...ofCall,
      ...ofSubagent,
      type: z.literal('agent.toolResult'),
      id: z.string(),
      /** Absent for a file that was read. */
      head: z.string().optional(),
      lines: z.number().int().positive(),
    }),
    /** Its report is for the agent; `gist` is the first line. */
    z.looseObject({
      ...header,
      ...ofCall,
      ...ofSubagent,
      type: z.literal('agent.subagentEnded'),
      subagent: subagent(),
      failed: z.boolean().optional(),
      gist: z.string(),
      durationMs: z.number().nonnegative().optional(),
      tokens: z.number().int().nonnegative().optional(),
      toolCalls: z.number().int().nonnegative().optional(),
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
      ...ofSubagent,
      type: z.literal('agent.denied'),
      tool: z.string(),
      message: z.string(),
    }),
    /** The agent's context was full, and the agent replaced its older part by a summary. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.compacted'),
      /** How much it had before. */
      tokens: z.number().int().optional(),
    }),
    /** Output that is not the agent's protocol, line by line; `cut` as in agent.text. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.output'),
      text: z.string(),
      cut: z.number().int().positive().optional(),
    }),
    /**
     * The call has exceeded what the journal keeps of one call. From here on, the journal has only samples, and the
     * last words.
     */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.overflow'),
      /** The file in the iteration's folder that contains everything. */
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
      /** The agent reported in its result that the call failed. */
      error: error.optional(),
      /** The file, relative to the workspace, with the whole standard error; the message has its last lines. */
      stderr: z.string().optional(),
      /** The cost of this call alone; an iteration may need several. */
      costUsd: z.number().nonnegative().optional(),
      /** The call had no result with numbers, so cost and usage are estimated from its output. */
      costEstimated: z.boolean().optional(),
      turns: z.number().int().nonnegative().optional(),
      usage: usage.optional(),
    }),
    /**
     * The call failed with a temporary error (server overloaded, connection lost) and is repeated in the same
     * iteration.
     */
    z.looseObject({
      ...header,
      type: z.literal('call.retried'),
      ...callOf,
      attempt: z.number().int().positive(),
      maxAttempts: z.number().int().positive(),
      delayMs: z.number().nonnegative(),
      error,
    }),
    /** The agent could not be started, so another agent replaces it for the rest of the run. */
    z.looseObject({
      ...header,
      ...ofCall,
      type: z.literal('agent.replaced'),
      from: z.string(),
      to: z.string(),
      reason: words,
    }),
    /**
     * The account has reached its usage limit. Written at the start of the wait and then once a minute, for the
     * countdown.
     */
    z.looseObject({
      ...header,
      type: z.literal('limit.waiting'),
      ...callOf,
      /** ISO 8601; the time at which the run continues. */
      until: z.string(),
      remainingMs: z.number().nonnegative(),
      /** Whether the agent reported this time. Otherwise it is when the loop will try again. */
      known: z.boolean(),
      message: words,
    }),
    z.looseObject({
      ...header,
      type: z.literal('limit.ended'),
      ...callOf,
      by: z.enum(['time', 'person', 'stop']),
    }),
  ] as const;
}

/** `id`: the tool call that has started it. */
function subagent() {
  return z.object({ id: z.string(), name: z.string() });
}
