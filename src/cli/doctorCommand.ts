import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import { MIRROR_FILE } from '../orchestrator/trackers/github/githubMirror.ts';
import { repositoryOf } from '../orchestrator/trackers/github/githubSource.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { doctorData, doctorText } from '../presentation/doctorReport.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { CHECK_IDS, examine } from './doctorChecks.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { takesOneText } from './oneText.ts';
import { print, printJson } from './print.ts';
import { addSettingFlags, settingsOf } from './settingFlags.ts';
import { fileOption } from './storyFiles.ts';

/** `ralph-fresh doctor`: whether a run can work here, and what to fix. */
export function addDoctorCommand(program: Command): void {
  const command = takesOneText(program.command('doctor'))
    .description('check whether a run with these flags can work here, and say what to fix')
    .addOption(cwdOption())
    .addOption(fileOption())
    .addOption(
      new Option(
        '--github <owner/repo>',
        'whether the issues of this repository can be the stories',
      )
        .argParser(repositoryOf)
        .conflicts('file'),
    )
    .option('--only <names>', 'run only these checks, such as claude,payer')
    .option('--json', 'as data: ok, checks (docs/json-output.md)');
  addSettingFlags(command).action(
    async (flags: Flags & { readonly github?: string; readonly only?: string }) => {
      const only = flags.only?.split(',');
      const unknown = only?.find(name => !CHECK_IDS.includes(name));
      if (unknown !== undefined) {
        throw new UsageError(
          say('There is no check "{0}". The checks are: {1}.', unknown, CHECK_IDS.join(', ')),
        );
      }
      const files = new RunFiles(flags.cwd);
      const copy = path.join(files.workspace, MIRROR_FILE);
      const data = doctorData(
        await examine({
          files,
          env: process.env,
          storyFile: flags.github !== undefined && existsSync(copy) ? copy : flags.file,
          github: flags.github,
          only,
          flags: settingsOf(command),
        }),
      );
      if (flags.json) {
        printJson(data);
      } else {
        print(doctorText(data));
      }
      process.exitCode = data.ok ? 0 : EXIT_FAILURE;
    },
  );
}
