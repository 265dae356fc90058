import { readFile } from 'node:fs/promises';
import type { Frame, FrameLocator } from '@playwright/test';

/** The part of axe-core that is used here. */
interface Axe {
  run(
    context: Document,
    options: object,
  ): Promise<{
    readonly violations: ReadonlyArray<{
      readonly id: string;
      readonly help: string;
      readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>;
    }>;
  }>;
}

/** The frame that contains an extension's webview. */
export async function frameOf(page: FrameLocator): Promise<Frame> {
  const root = await page.locator('html').elementHandle();
  const frame = await root?.ownerFrame();
  if (!frame) {
    throw new Error('The page is gone.');
  }
  return frame;
}

/**
 * The violations that axe-core finds, one line per element. It is injected from outside, bypassing the page's content
 * security policy, which is not changed.
 */
export async function violations(frame: Frame): Promise<readonly string[]> {
  const source = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  await frame.evaluate(source);
  const found = await frame.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    // Style sheets would be loaded again, which the policy forbids.
    return (await axe.run(document, { preload: false, resultTypes: ['violations'] })).violations;
  });
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${help}: ${html}: ${failureSummary}`),
  );
}

/** The part of a node of Chromium's accessibility tree that is used here. */
interface AxNode {
  readonly nodeId: string;
  readonly parentId?: string;
  readonly childIds?: readonly string[];
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly properties?: ReadonlyArray<{
    readonly name: string;
    readonly value: { readonly value?: unknown };
  }>;
}

/** Roles that are listed by their name, without their content. */
const WHOLE = new Set(['button', 'heading', 'image', 'textbox', 'columnheader', 'rowheader']);
/** Roles that are listed before their content; all others are only containers. */
const NAMED = new Set(['main', 'region', 'group', 'log', 'table', 'list', 'figure', 'blockquote']);

/**
 * The page as Chromium passes it to a screen reader, in reading order: one line per heading, control, picture and text.
 */
export async function readingOrder(frame: Frame): Promise<readonly string[]> {
  const nodes = await accessibilityTree(frame);
  const byId = new Map(nodes.map(node => [node.nodeId, node]));
  const lines: string[] = [];
  const tell = (node: AxNode): void => {
    const role = String(node.role?.value ?? '');
    const name = String(node.name?.value ?? '').trim();
    if (!node.ignored && WHOLE.has(role)) {
      lines.push(`${role}${levelOf(node)}: ${name}`);
      return;
    }
    if (!node.ignored && role === 'StaticText' && name !== '') {
      lines.push(name);
      return;
    }
    if (!node.ignored && NAMED.has(role)) {
      lines.push(name === '' ? `(${role})` : `(${role}: ${name})`);
    }
    for (const id of node.childIds ?? []) {
      const child = byId.get(id);
      if (child) {
        tell(child);
      }
    }
  };
  const root = nodes.find(({ parentId }) => parentId === undefined);
  if (root) {
    tell(root);
  }
  return lines;
}

function levelOf({ properties = [] }: AxNode): string {
  const level = properties.find(({ name }) => name === 'level')?.value.value;
  return level === undefined ? '' : ` ${level}`;
}

async function accessibilityTree(frame: Frame): Promise<readonly AxNode[]> {
  const page = frame.page();
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const around = frameWith(frameTree, frame.parentFrame()?.url() ?? '');
    // For Chromium its URL differs, since its document was written into it.
    const found = around?.childFrames?.find(child => child.frame.name === 'active-frame');
    if (!found) {
      throw new Error(`Chromium knows no frame at ${frame.url()}.`);
    }
    const frameId = found.frame.id;
    return (await session.send('Accessibility.getFullAXTree', { frameId })).nodes;
  } finally {
    await session.detach();
  }
}

interface FrameTree {
  readonly frame: { readonly id: string; readonly url: string; readonly name?: string };
  readonly childFrames?: readonly FrameTree[];
}

function frameWith(tree: FrameTree, url: string): FrameTree | undefined {
  return tree.frame.url === url
    ? tree
    : tree.childFrames?.map(child => frameWith(child, url)).find(one => one !== undefined);
}

const HEARD = 'heardForTests';

/** Starts to record everything that the page announces, for {@link heard}. */
export async function listen(page: FrameLocator): Promise<void> {
  await page.getByRole('log').evaluate((log, key) => {
    const kept: string[] = [];
    Object.assign(globalThis, { [key]: kept });
    new MutationObserver(changes => {
      for (const { addedNodes } of changes) {
        for (const node of addedNodes) {
          if (node instanceof HTMLElement) {
            kept.push(node.innerText);
          }
        }
      }
    }).observe(log, { childList: true });
  }, HEARD);
}

/** Everything that the page has announced since {@link listen}, one line per sentence. */
export async function heard(page: FrameLocator): Promise<readonly string[]> {
  const kept = await page
    .locator('html')
    .evaluate((_, key) => (globalThis as unknown as Record<string, string[]>)[key], HEARD);
  return (kept ?? []).flatMap(text => text.split('\n'));
}
