#!/usr/bin/env node
// A fake of `claude` that does its story well, once the test lets it: a note `go`, or `go-<story>`.
import { init, story, waitForNote, workOnStory } from './fake.mjs';

init();
await waitForNote('go', `go-${story}`);
workOnStory();
