import type { Command } from 'commander';
import { RunFiles } from '../orchestrator/run/runFiles.ts';
import { doctorData, doctorText } from '../presentation/doctorReport.ts';
import { cwdOption } from './arguments.ts';
import { examine } from './doctorChecks.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { print, printJson } from './print.ts';
import { addSettingFlags, settingsOf } from './settingFlags.ts';
import { fileOption } from './storyFiles.ts';

/** `ralph-fresh doctor`: whether a run can work here, and what to mend. */
export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('look whether a run with these flags can work here, and tell what to mend')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--json', 'as data: ok, checks (docs/json-output.md)');
  addSettingFlags(command).action(async (flags: { cwd: string; file?: string; json?: true }) => {
    const data = doctorData(
      await examine({
        files: new RunFiles(flags.cwd),
        env: process.env,
        ...(flags.file === undefined ? {} : { storyFile: flags.file }),
        flags: settingsOf(command),
      }),
    );
    if (flags.json) {
      printJson(data);
    } else {
      print(doctorText(data));
    }
    process.exitCode = data.ok ? 0 : EXIT_FAILURE;
  });
}
