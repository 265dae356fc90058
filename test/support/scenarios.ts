import { AGENT_SCENARIOS } from './agentScenarios.ts';
import { LANE_SCENARIOS } from './laneScenarios.ts';
import { PEOPLE_SCENARIOS } from './peopleScenarios.ts';
import type { Scenario } from './scenario.ts';

/** Short runs of all kinds; npm run journals records their journals for the tests of views. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...AGENT_SCENARIOS,
  ...PEOPLE_SCENARIOS,
  ...LANE_SCENARIOS,
};
