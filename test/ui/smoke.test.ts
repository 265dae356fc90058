import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

test('the workbench opens and shows Ralph in the activity bar', async () => {
  await using home = await tempDir('ralph-fresh-home-');
  await using workspace = await tempDir('ralph-fresh-workspace-');
  await gitRepo(workspace.path);
  await using workbench = await Workbench.open({
    workspace: workspace.path,
    env: cleanEnv({ home: home.path }),
  });
  await expect(workbench.activityTab('Ralph')).toBeVisible();
  await workbench.screenshot('smoke');
});
