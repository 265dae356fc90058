#!/usr/bin/env node
// A fake of `claude` that does its story correctly.
import { init, workOnStory } from './fake.mjs';

init();
workOnStory();
