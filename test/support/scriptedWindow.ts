import { type Scene, type ScriptedRun, scriptedRun } from './scriptedRun.ts';
import { expect, oneWindow } from './story.ts';
import { type Theme, Workbench } from './workbench.ts';

/**
 * One window for the stories of a `describe`, each with a project and agents of its own.
 * @returns a function that prepares the window for a story
 */
export function scriptedWindow(
  options: Omit<Parameters<typeof scriptedRun>[0], keyof Scene> = {},
): (
  scene: Scene & { readonly theme?: Theme },
) => Promise<{ readonly run: ScriptedRun; readonly workbench: Workbench }> {
  let run: ScriptedRun;
  const window = oneWindow(async kept => {
    run = kept.use(await scriptedRun({ calls: [], ...options }));
    const { env, settings, workspace } = run;
    return Workbench.open({ workspace, env, settings });
  });
  return async scene => {
    const workbench = window();
    const view = await workbench.view('Ralph');
    await workbench.tidy();
    await workbench.showView('Stories', true);
    await workbench.setTheme(scene.theme ?? 'dark');
    await run.startAgain(scene, async () => {
      // What the last story has left is not taken for what this one shows.
      await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
    });
    return { run, workbench };
  };
}
