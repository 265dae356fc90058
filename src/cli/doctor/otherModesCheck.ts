import { activeOtherMode } from '../../orchestrator/modes.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { good, wrong } from './findings.ts';
import type { Patient } from './patient.ts';

/** Whether another mode works on the same files. */
export async function otherModesCheck({ files }: Patient): Promise<readonly Finding[]> {
  const other = await activeOtherMode(files);
  return [
    other === undefined
      ? good('otherModes', 'No other mode of oh-my-claudecode is active here.')
      : wrong(
          'otherModes',
          `The mode "${other.mode}" of oh-my-claudecode is active here.`,
          `Cancel it with /oh-my-claudecode:cancel, or remove ${other.file} if it is left over.`,
        ),
  ];
}
