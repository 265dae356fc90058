import {
  CodeAction,
  type CodeActionContext,
  CodeActionKind,
  l10n,
  languages,
  type Range,
  type TextDocument,
  WorkspaceEdit,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { fixAll } from '../../orchestrator/stories/diagnosis/diagnose.ts';
import type { StoryFix } from '../../orchestrator/stories/diagnosis/storyDiagnosis.ts';
import { changedPart } from '../../orchestrator/stories/edit/changedPart.ts';
import { beadsDatabase } from '../../orchestrator/trackers/beads/beadsDatabase.ts';
import { plainLabel } from '../common/plainText.ts';
import type { StoryDocuments } from './storyDocuments.ts';
import { rangeOf, toDiagnostic } from './storyProblems.ts';
import { STORY_DOCUMENTS } from './storySelector.ts';

const FIX_ALL = CodeActionKind.SourceFixAll.append('ralphFresh');
const MAX_LABEL = 60;
/** Problems with fixes in one menu: each fix was tried with the whole text, and a selection may have a thousand. */
const MAX_HERE = 20;

/** Fixes everything that has one clear fix. The edit is computed on request, from the text at that time. */
class FixAll extends CodeAction {
  readonly document: TextDocument;

  constructor(document: TextDocument, kind: CodeActionKind) {
    super(l10n.t('Fix all problems in this file that have a single clear fix'), kind);
    this.document = document;
  }
}

/** Fixes problems of a story file in the document; the file is written when the person saves it. */
export function storyFixes(documents: StoryDocuments): Disposable {
  async function provideCodeActions(
    document: TextDocument,
    range: Range,
    { only }: CodeActionContext,
  ): Promise<CodeAction[]> {
    const stories = await documents.read(document);
    if (stories === undefined) {
      return [];
    }
    const { diagnoses, file, hasClearFix, text } = stories;
    if (file.format === 'beads' && (await beadsDatabase(file.path)) !== undefined) {
      // `bd` writes the file from its database, so a fix in it would be lost.
      return [];
    }
    if (only !== undefined && CodeActionKind.SourceFixAll.intersects(only)) {
      return hasClearFix() ? [new FixAll(document, FIX_ALL)] : [];
    }
    const here = diagnoses.filter(
      ({ start, end }) => rangeOf(document, text, start, end).intersection(range) !== undefined,
    );
    const actions = here.slice(0, MAX_HERE).flatMap(found =>
      found.fixes().map(fix => {
        const action = new CodeAction(fixTitle(fix), CodeActionKind.QuickFix);
        action.edit = new WorkspaceEdit();
        for (const { content, length, offset } of fix.edits) {
          const place = rangeOf(document, text, offset, offset + length);
          action.edit.replace(document.uri, place, content);
        }
        action.diagnostics = [toDiagnostic(document, text, found)];
        action.isPreferred = fix.isClear;
        return action;
      }),
    );
    return actions.length > 0 && diagnoses.length > 1 && hasClearFix()
      ? [...actions, new FixAll(document, CodeActionKind.QuickFix)]
      : actions;
  }

  async function resolveCodeAction(action: CodeAction): Promise<CodeAction> {
    if (action instanceof FixAll) {
      const stories = await documents.read(action.document);
      action.edit =
        stories === undefined ? new WorkspaceEdit() : allFixed(action.document, stories.text);
    }
    return action;
  }

  return languages.registerCodeActionsProvider(
    STORY_DOCUMENTS,
    { provideCodeActions, resolveCodeAction },
    {
      providedCodeActionKinds: [CodeActionKind.QuickFix, FIX_ALL],
    },
  );
}

/** Replaces only the changed part of the text. */
function allFixed(document: TextDocument, text: string): WorkspaceEdit {
  const edit = new WorkspaceEdit();
  const fixed = fixAll(document.uri.fsPath, text);
  if (fixed === text) {
    return edit;
  }
  const { content, length, offset } = changedPart(text, fixed);
  edit.replace(document.uri, rangeOf(document, text, offset, offset + length), content);
  return edit;
}

function fixTitle({ kind, values }: StoryFix): string {
  const [first = '', second = ''] = values.map(value => plainLabel(value, MAX_LABEL));
  const titles: Readonly<Record<StoryFix['kind'], string>> = {
    giveId: l10n.t('Give it the id {0} (references to the old one stay)', first),
    replaceDependency: l10n.t('Wait for {1} instead of {0}', first, second),
    removeDependency: l10n.t('Do not wait for {0}', first),
    addField: l10n.t('Add "{0}" with an example', first),
    renameKey: l10n.t('Write "{1}" instead of "{0}"', first, second),
    setValue: l10n.t('Set "{0}" to {1}', first, second),
    removeField: l10n.t('Remove "{0}"', first),
    setAside: l10n.t('Keep this as "{1}", with an empty list "{0}"', first, second),
    removeEntry: l10n.t('Remove this entry'),
    makeItem: l10n.t('Write it as "{0}"', first),
    makeStory: l10n.t('Make it a story with the id {0}', first),
    addFirstStory: l10n.t('Add a first story'),
    insertComma: l10n.t('Insert the missing comma'),
    removeComma: l10n.t('Remove the comma'),
    removeComment: l10n.t('Remove the comment'),
  };
  return titles[kind];
}
