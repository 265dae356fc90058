import {
  CompletionItem,
  CompletionItemKind,
  type Disposable,
  l10n,
  languages,
  type Position,
  Range,
  SnippetString,
  type TextDocument,
} from 'vscode';
import { nextLabel } from '../../orchestrator/stories/edit/planLabel.ts';
import { readMarkdown } from '../../orchestrator/stories/formats/markdownBlocks.ts';
import type { StoryDocuments } from './storyDocuments.ts';
import { PLAN_DOCUMENTS } from './storySelector.ts';

/** Suggests new stories in the plan that is the folder's story file, and in no other Markdown file. */
export function planSnippets(documents: StoryDocuments): Disposable {
  async function provideCompletionItems(
    document: TextDocument,
    { character, line }: Position,
  ): Promise<CompletionItem[]> {
    const [, space = '', word] =
      /^(\s*)([\w-]*)$/.exec(document.lineAt(line).text.slice(0, character)) ?? [];
    const isOwn = word !== undefined && (await documents.folderOf(document)) !== undefined;
    const file = isOwn ? (await documents.read(document))?.file : undefined;
    if (file?.format !== 'plan' || isHidden(document, line)) {
      return [];
    }
    const stories = file.kind === 'stories' ? file.stories : [];
    const label = nextLabel(stories);
    const lastLine = stories.at(-1)?.line;
    const near = lastLine === undefined ? '' : document.lineAt(lastLine - 1).text;
    const marker = /^\s*([*+])\s/.exec(near)?.[1] ?? '-';
    const range = new Range(line, space.length, line, character);
    const story = () =>
      new SnippetString(`${marker} [ ] `)
        .appendText(label)
        .appendPlaceholder(l10n.t('What can be done when it is done'));
    return [
      itemOf('ralph-story', l10n.t('A story'), story().appendTabstop(0), range),
      itemOf(
        'ralph-story-criteria',
        l10n.t('A story with criteria'),
        story()
          .appendText(`\n  ${marker} `)
          .appendPlaceholder(l10n.t('What must hold'))
          .appendText(`\n  ${marker} `)
          .appendPlaceholder(l10n.t('A check that passes'))
          .appendTabstop(0),
        range,
      ),
    ];
  }

  return languages.registerCompletionItemProvider(PLAN_DOCUMENTS, { provideCompletionItems });
}

function itemOf(name: string, detail: string, text: SnippetString, range: Range): CompletionItem {
  const item = new CompletionItem({ label: name, description: detail }, CompletionItemKind.Snippet);
  item.insertText = text;
  item.range = range;
  return item;
}

/** Whether a line is in a code fence, a comment or front matter, where no story is read. */
function isHidden(document: TextDocument, line: number): boolean {
  const found = readMarkdown(document.getText()).lines[line];
  return found?.kind === 'plain' && found.isHidden;
}
