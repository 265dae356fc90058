import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { countArgument, cwdOption } from './arguments.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { addSettingFlags, hideStoryFlags } from './settingFlags.ts';
import { addStartFlags, type StartFlags } from './start/startFlags.ts';
import { PLAN_DEFAULTS, startRun } from './start/startRun.ts';

/** `ralph-fresh go 1`: the pure loop over the plan in `.ralph/ralph-1/`. */
export function addGoCommand(program: Command): void {
  const command = takesOneText(forPeople(program.command('go')))
    .description('the pure loop: a fresh agent for each step of .ralph/ralph-<n>/plan.md')
    .argument('<n>', 'number of the plan', countArgument('a plan', 'go'))
    .addOption(cwdOption());
  addStartFlags(command);
  addSettingFlags(command, PLAN_DEFAULTS);
  hideStoryFlags(command);
  command.action(async (number: number, flags: StartFlags) => {
    const planDir = requirePlan(new RunFiles(flags.cwd).workspace, number);
    process.exitCode = await startRun({
      task: undefined,
      flags: { ...flags, planDir },
      command,
    });
  });
}

/** @returns absolute path of the plan's folder */
function requirePlan(workspace: string, number: number): string {
  const planDir = path.join(workspace, '.ralph', `ralph-${number}`);
  const plan = path.join(planDir, 'plan.md');
  if (!existsSync(plan)) {
    throw new HumanError(
      say(
        'There is no {0}. Write the plan there, with what must be done and how it is checked, and start again.',
        plan,
      ),
    );
  }
  return planDir;
}
