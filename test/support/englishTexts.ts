import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import {
  type Language,
  readTexts,
  type TextKind,
  textKinds,
} from '../../scripts/lib/l10nStrings.ts';
import { ensureVsCodeServer } from '../../scripts/lib/vscodeServer.ts';
import { SAID } from '../../src/presentation/saidWords.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A visible text, or one that a screen reader says. */
interface ShownText {
  readonly text: string;
  /** In a webview, which contains no texts of VS Code. */
  readonly isOwn: boolean;
}

/** English texts of the extension that are translated in the display language. */
export class EnglishTexts {
  /** The translation of each English text of the code or the manifest. */
  private readonly translated: ReadonlyMap<string, string>;
  private readonly patterns: readonly RegExp[];
  private readonly ofVsCode: ReadonlySet<string>;

  /** A window shows the same few thousand texts again and again, and there are hundreds of patterns. */
  private readonly judged = new Map<string, boolean>();

  private constructor(translated: ReadonlyMap<string, string>, ofVsCode: ReadonlySet<string>) {
    this.translated = translated;
    this.ofVsCode = ofVsCode;
    this.patterns = [...translated.keys()].flatMap(english => {
      const words = english.split(/\{\d+\}/);
      // With only one word besides its placeholders, it would match too many other texts.
      return words.length > 1 && (words.join('#').match(/\p{L}{2,}/gu) ?? []).length > 1
        ? [new RegExp(`^${words.map(escapeRegExp).join('.+?')}$`, 'us')]
        : [];
    });
  }

  static async of(language: Language): Promise<EnglishTexts> {
    const translated = new Map<string, string>();
    // A text in both the manifest and the code is usually a command's title.
    for (const { english, fileOf } of textKinds(root).toSorted(manifestLast)) {
      const texts = readTexts(root, fileOf(language));
      for (const [key, text] of Object.entries(english)) {
        const other = texts[key];
        if (other !== undefined && other !== text && /\p{L}{2}/u.test(text)) {
          translated.set(key.endsWith(SAID) ? key.slice(0, -SAID.length) : text, other);
        }
      }
    }
    return new EnglishTexts(translated, await textsOfVsCode());
  }

  /** The translation of an English text; for the manifest, without the markup of its links. */
  in(english: string): string {
    const words = this.translated.get(english);
    if (words === undefined) {
      throw new Error(`There is no translation of: ${english}`);
    }
    return words;
  }

  /** All visible English texts of the extension. */
  async shownBy(page: Page): Promise<string[]> {
    const shown = (await Promise.all(page.frames().map(frame => shownIn(frame)))).flat();
    return [
      ...new Set(shown.filter(({ isOwn, text }) => this.has(text, isOwn)).map(({ text }) => text)),
    ];
  }

  /** Those of the lines that are English. */
  among(lines: readonly string[]): string[] {
    return lines.filter(line => this.has(line, true));
  }

  /** VS Code itself is English in these tests, and some of its texts are the same. */
  private has(shown: string, isOwn: boolean): boolean {
    const text = shown.replace(/^\[Ralph Fresh\] /, '').trim();
    return (isOwn || !this.ofVsCode.has(text)) && this.isOurs(text);
  }

  private isOurs(text: string): boolean {
    let isOurs = this.judged.get(text);
    if (isOurs === undefined) {
      isOurs = this.translated.has(text) || this.patterns.some(pattern => pattern.test(text));
      this.judged.set(text, isOurs);
    }
    return isOurs;
  }
}

async function textsOfVsCode(): Promise<ReadonlySet<string>> {
  const { folder } = await ensureVsCodeServer(line => console.log(line));
  const json = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const messages: string[] = json('out/nls.messages.json');
  const ofExtensions = globSync('extensions/*/package.nls.json', { cwd: folder }).flatMap(file =>
    Object.values<string | { message: string }>(json(file)).map(text =>
      typeof text === 'string' ? text : text.message,
    ),
  );
  // Mnemonics of menus are marked.
  return new Set([...messages, ...ofExtensions].map(text => text.replaceAll('&&', '')));
}

/** The visible texts of a frame, lines of an editor as a whole, and the accessible names of its elements. */
async function shownIn(frame: ReturnType<Page['frames']>[number]): Promise<ShownText[]> {
  const isOwn = frame.parentFrame() !== null;
  const texts = await frame
    .evaluate(() => {
      const found: string[] = [];
      for (const element of document.querySelectorAll('body *')) {
        if (/^(?:SCRIPT|STYLE)$/.test(element.tagName) || !element.checkVisibility()) {
          continue;
        }
        for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt']) {
          found.push(element.getAttribute(name) ?? '');
        }
        const isLine = element.matches('.view-line, p, li, .monaco-highlighted-label, .message');
        found.push(isLine ? (element.textContent ?? '') : '');
        for (const node of element.childNodes) {
          found.push(node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '') : '');
        }
      }
      return found;
    })
    // A frame that was removed meanwhile shows nothing.
    .catch(() => []);
  return texts
    .map(text => ({ text: text.replaceAll(/\s+/g, ' ').trim(), isOwn }))
    .filter(({ text }) => text !== '');
}

function manifestLast(a: TextKind, b: TextKind): number {
  const isManifest = ({ fileOf }: TextKind) => Number(fileOf('de').startsWith('package.'));
  return isManifest(a) - isManifest(b);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
