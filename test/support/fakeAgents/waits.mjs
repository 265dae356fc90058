#!/usr/bin/env node
// A fake of `claude` that does its story correctly, once the test creates a note `go`, or `go-<story>`.
import { init, story, waitForNote, workOnStory } from './fake.mjs';

init();
await waitForNote('go', `go-${story}`);
workOnStory();
