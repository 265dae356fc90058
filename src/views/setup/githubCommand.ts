import path from 'node:path';
import { l10n, ProgressLocation, window } from 'vscode';
import { UsageError } from '../../base/usageError.ts';
import { MIRROR_FILE } from '../../orchestrator/trackers/github/githubMirror.ts';
import { repositoryOf } from '../../orchestrator/trackers/github/githubSource.ts';
import { runOwnCommand } from '../../orchestrator/workspace/ownCommand.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import { githubEnvironment } from './githubSession.ts';

/**
 * "Use GitHub Issues as Stories…": asks for the repository and a label, copies its issues, and shows the copy.
 * @param program `dist/cli.js` of this extension
 */
export async function githubCommand(folder: Folder, program: string): Promise<void> {
  const title = l10n.t('Use GitHub Issues as Stories');
  const repository = await window.showInputBox({
    title,
    prompt: l10n.t('The repository on GitHub, as owner/name'),
    ignoreFocusOut: true,
    validateInput: text => whyNotRepository(text),
  });
  if (repository === undefined) {
    return;
  }
  const label = await window.showInputBox({
    title,
    prompt: l10n.t(
      'Only issues with this label; several with commas between them. Empty: all issues.',
    ),
    value: 'ralph',
    ignoreFocusOut: true,
  });
  if (label === undefined) {
    return;
  }
  const env = await githubEnvironment(folder.path);
  const labels = label.trim() === '' ? [] : [`--label=${label.trim()}`];
  await window.withProgress(
    { location: ProgressLocation.Notification, title: l10n.t('Reading issues from GitHub…') },
    () =>
      runOwnCommand({
        ...{ program, workspace: folder.path, env, takesSecrets: true },
        args: ['github', 'sync', `--github=${repositoryOf(repository)}`, ...labels],
      }),
  );
  await folder.stories.choose(path.join(folder.path, MIRROR_FILE));
}

function whyNotRepository(text: string): string | undefined {
  try {
    repositoryOf(text);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) {
      return translate.said(error.said);
    }
    throw error;
  }
}
