#!/usr/bin/env node
// A fake of `claude` that does its story, prints its result and does not exit.
import { init, stay, workOnStory } from './fake.mjs';

init();
workOnStory();
stay();
