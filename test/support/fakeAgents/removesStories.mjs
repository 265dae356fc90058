#!/usr/bin/env node
// A fake of `claude` that gets rid of its work by taking every open story out of the story file.
import { commit, init, readStories, result, writeStories } from './fake.mjs';

init();
const stories = readStories();
writeStories({ ...stories, userStories: stories.userStories.filter(({ passes }) => passes) });
commit('chore: tidy the stories');
result('All done.\n\n<promise>TASK_COMPLETE</promise>');
