import {
  Diagnostic,
  DiagnosticSeverity,
  type LogOutputChannel,
  languages,
  Range,
  type TextDocument,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import type { DiagnosedStories } from '../../orchestrator/stories/diagnosis/diagnose.ts';
import type {
  Severity,
  StoryDiagnosis,
} from '../../orchestrator/stories/diagnosis/storyDiagnosis.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { plainSentence } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { StoryDocuments } from './storyDocuments.ts';

/** Source of the problems in the list of problems. */
export const SOURCE = 'Ralph';

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};

/** Problems of the open story files, in the list of problems and under the text. */
export function storyProblems(documents: StoryDocuments, log: LogOutputChannel): Disposable {
  const store = new DisposableStore();
  const problems = store.add(languages.createDiagnosticCollection('ralphFresh'));

  async function update(document: TextDocument): Promise<void> {
    try {
      const { version } = document;
      const stories = await documents.read(document);
      // A newer text, or the closing of the document, gets its own report.
      if (document.version === version && !document.isClosed) {
        problems.set(document.uri, stories && diagnosticsOf(document, stories));
      }
    } catch (error) {
      log.error(error as Error);
    }
  }

  store.add(documents.onDidChange(document => void update(document)));
  store.add(documents.onDidClose(({ uri }) => problems.delete(uri)));
  for (const document of documents.all) {
    void update(document);
  }
  return store;
}

function diagnosticsOf(
  document: TextDocument,
  { diagnoses, text }: DiagnosedStories,
): Diagnostic[] {
  return diagnoses.map(found => toDiagnostic(document, text, found));
}

/** @param text the text that the ranges refer to */
export function toDiagnostic(
  document: TextDocument,
  text: string,
  { code, end, message, severity, start }: StoryDiagnosis,
): Diagnostic {
  const diagnostic = new Diagnostic(
    rangeOf(document, text, start, end),
    plainSentence(translate.said(message)),
    SEVERITIES[severity],
  );
  diagnostic.code = code;
  diagnostic.source = SOURCE;
  return diagnostic;
}

/** A range of the text as a range of its document. */
export function rangeOf(document: TextDocument, text: string, start: number, end: number): Range {
  // The text does not contain the byte order mark. Only its position is read, since there may be a thousand ranges.
  const isMarked = document.getText(new Range(0, 0, 0, 1)) === '\uFEFF' && text[0] !== '\uFEFF';
  const shift = isMarked ? 1 : 0;
  return new Range(document.positionAt(start + shift), document.positionAt(end + shift));
}
