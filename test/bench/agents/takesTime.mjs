#!/usr/bin/env node
// A fake of `claude` that takes BENCH_AGENT_MS for its story, and then does it correctly.
import { setTimeout as delay } from 'node:timers/promises';
import { init, workOnStory } from '../../support/fakeAgents/fake.mjs';

init();
await delay(Number(process.env.BENCH_AGENT_MS));
workOnStory();
