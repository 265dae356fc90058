import type { RunEvent } from './events.ts';

/** How the account bears a run now. */
export interface AccountState {
  /** What the calls that are under way may still spend of the budget, in US dollars; 0 without a budget. */
  readonly reservedUsd: number;
  /** The account rejected requests again and again, so no more agents than this work at once. */
  readonly mostLanes?: number;
}

/**
 * What calls have reserved, and how many agents the account bears. The loop decides both; this repeats its decisions
 * from the journal. Pure.
 */
export function accountState(events: Iterable<RunEvent>): AccountState {
  let reserved = new Map<string, number>();
  let wanted = 1;
  let mostLanes: number | undefined;
  let lastSeq = 0;
  for (const event of events) {
    if (event.seq <= lastSeq) {
      continue;
    }
    lastSeq = event.seq;
    switch (event.type) {
      case 'run.started':
      case 'run.resumed':
        wanted = event.lanes ?? 1;
        mostLanes = undefined;
        reserved = new Map();
        break;
      case 'lanes.changed':
        wanted = event.lanes;
        break;
      case 'run.ended':
        reserved = new Map();
        break;
      case 'agent.started':
        if (event.budgetUsd !== undefined) {
          reserved.set(callOf(event), event.budgetUsd);
        }
        break;
      case 'agent.ended':
        reserved.delete(callOf(event));
        if (event.error === undefined && mostLanes !== undefined) {
          // Each call that ends well lets one more agent work.
          mostLanes = mostLanes + 1 >= wanted ? undefined : mostLanes + 1;
        }
        break;
      case 'warning': {
        const most = event.code === 'fewerLanes' ? Number(event.detail) : Number.NaN;
        mostLanes = Number.isInteger(most) && most > 0 ? most : mostLanes;
        break;
      }
      default:
        // Says nothing of the account.
        break;
    }
  }
  return {
    reservedUsd: [...reserved.values()].reduce((sum, usd) => sum + usd, 0),
    mostLanes: mostLanes !== undefined && mostLanes < wanted ? mostLanes : undefined,
  };
}

/** An iteration has at most one call of each kind at a time. */
function callOf({
  iteration,
  purpose = 'story',
}: Extract<RunEvent, { type: 'agent.started' | 'agent.ended' }>): string {
  return `${purpose} ${iteration}`;
}
