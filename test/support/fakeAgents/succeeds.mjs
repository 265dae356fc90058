#!/usr/bin/env node
// A fake of `claude` that does its story well.
import { init, workOnStory } from './fake.mjs';

init();
workOnStory();
