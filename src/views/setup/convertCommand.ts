import { existsSync } from 'node:fs';
import path from 'node:path';
import { l10n, Range, Uri, window, workspace } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import type { Conversion, Target } from '../../orchestrator/stories/convert/conversion.ts';
import { conversionSource } from '../../orchestrator/stories/convert/conversionSource.ts';
import { convertStories } from '../../orchestrator/stories/convert/convertStories.ts';
import { targetsFor, usualPlace } from '../../orchestrator/stories/convert/targetPlaces.ts';
import { findStorySources, storyFileWith } from '../../orchestrator/stories/knownSources.ts';
import { isSameFile } from '../../orchestrator/stories/targetFile.ts';
import { lossLines, MOST_IN_DIALOG } from '../../presentation/conversionLosses.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';

/** Maximum length of a path, in UTF-16 units. */
const MAX_LABEL = 200;

/**
 * Shows the stories of a file in another format, in an editor: nothing is written before the person saves. Asks first
 * if that would lose something, or take the place of a file.
 */
export async function convertCommand(folder: Folder): Promise<void> {
  const source = await chooseSource(folder);
  const target = source === undefined ? undefined : await chooseTarget(folder, source);
  if (source === undefined || target === undefined) {
    return;
  }
  const file = path.join(folder.path, usualPlace(target, source));
  if (await isSameFile(file, source)) {
    throw new HumanError(
      l10n.t('{0} already has this format and is in this place.', relative(folder, file)),
    );
  }
  const conversion = convertStories(await conversionSource(source), target, new Date());
  const replaces = existsSync(file);
  if (!(await isWanted(folder, { conversion, file, replaces, source }))) {
    return;
  }
  const uri = replaces ? Uri.file(file) : Uri.file(file).with({ scheme: 'untitled' });
  const document = await workspace.openTextDocument(uri);
  const editor = await window.showTextDocument(document);
  // A draft that is still open already has text.
  const all = document.validateRange(new Range(0, 0, document.lineCount, 0));
  await editor.edit(edit => edit.replace(all, conversion.text));
  void window.showInformationMessage(
    [
      l10n.t(
        '{0} stories of {1}. Review them, then save the file.',
        conversion.stories,
        plainSentence(relative(folder, source)),
      ),
      await whatIsUsed(folder, file),
    ].join(' '),
  );
}

/** Which file runs work on after the new one is saved: it can take the place of the old one. */
async function whatIsUsed(folder: Folder, file: string): Promise<string> {
  const { chosenFile } = folder.stories;
  const used = chosenFile ?? (await storyFileWith(folder.path, file));
  if (used !== undefined && (await isSameFile(used, file))) {
    return l10n.t('From then on, {0} is used.', plainSentence(relative(folder, file)));
  }
  return used === undefined
    ? l10n.t('To use it, choose it with "Choose the Story File…".')
    : l10n.t(
        '{0} is still used then. To use the new file, choose it with "Choose the Story File…".',
        plainSentence(relative(folder, used)),
      );
}

/** Whether the person agrees to what is lost, and to the new text of a file that exists. */
async function isWanted(
  folder: Folder,
  {
    conversion: { losses },
    file,
    replaces,
    source,
  }: {
    readonly conversion: Conversion;
    readonly file: string;
    readonly replaces: boolean;
    readonly source: string;
  },
): Promise<boolean> {
  const [from, to] = [source, file].map(one => plainSentence(relative(folder, one)));
  const lost =
    losses.length === 0
      ? []
      : [
          l10n.t('It will not have what {0} has:', from ?? ''),
          ...lossLines(losses, translate, MOST_IN_DIALOG).map(line => `• ${plainSentence(line)}`),
        ];
  const replaced = replaces
    ? [
        l10n.t(
          'The editor will show the new text of the file. What is on the disk stays until you save.',
        ),
      ]
    : [];
  const detail = [...lost, ...replaced].join('\n');
  if (detail === '') {
    return true;
  }
  const yes = replaces ? l10n.t('Replace') : l10n.t('Convert');
  const question = replaces
    ? l10n.t('{0} exists. Replace its text?', to ?? '')
    : l10n.t('{0} cannot hold everything. Convert the stories?', to ?? '');
  return (await window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

/** @returns the path of a file or folder with stories */
async function chooseSource(folder: Folder): Promise<string | undefined> {
  const sources = await findStorySources(folder.path);
  const other = { label: l10n.t('Another File…'), source: undefined };
  const items = [
    ...sources.map(({ path: source, stories }) => ({
      label: plainLabel(relative(folder, source), MAX_LABEL),
      description: l10n.t('{0} stories', stories.length),
      source,
    })),
    other,
  ];
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Convert Stories'),
    placeHolder: l10n.t('Where are the stories now?'),
  });
  if (chosen !== other) {
    return chosen?.source;
  }
  const [file] =
    (await window.showOpenDialog({
      title: l10n.t('Select a File with Stories'),
      defaultUri: folder.uri,
      openLabel: l10n.t('Convert'),
    })) ?? [];
  return file?.fsPath;
}

async function chooseTarget(folder: Folder, source: string): Promise<Target | undefined> {
  const names: Readonly<Record<Target, string>> = {
    prd: 'prd.json',
    yaml: l10n.t('Orchestration (YAML)'),
    plan: l10n.t('Markdown plan'),
    tasks: l10n.t('Task graph'),
  };
  const targets = await targetsFor(folder.path, source);
  const items = targets.map(target => ({
    label: names[target],
    description: usualPlace(target, source),
    target,
  }));
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Convert Stories'),
    placeHolder: l10n.t('Which format should they have?'),
  });
  return chosen?.target;
}

function relative(folder: Folder, file: string): string {
  return path.relative(folder.path, file);
}
