import { AGENT_SCENARIOS } from './agentScenarios.ts';
import { PEOPLE_SCENARIOS } from './peopleScenarios.ts';
import type { Scenario } from './scenario.ts';

/** What runs do, each a short one; npm run journals keeps their journals for the tests of views. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...AGENT_SCENARIOS,
  ...PEOPLE_SCENARIOS,
};
