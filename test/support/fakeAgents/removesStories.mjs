#!/usr/bin/env node
// A fake of `claude` that avoids its work by removing every open story from the story file.
import { commit, init, readStories, result, writeStories } from './fake.mjs';

init();
const stories = readStories();
writeStories({ ...stories, userStories: stories.userStories.filter(({ passes }) => passes) });
commit('chore: tidy the stories');
result('All done.\n\n<promise>TASK_COMPLETE</promise>');
