import { readFile } from 'node:fs/promises';
import type { Frame, FrameLocator } from '@playwright/test';

/** As much of axe-core as is used here. */
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

/** The frame that a page of an extension is in. */
export async function frameOf(page: FrameLocator): Promise<Frame> {
  const root = await page.locator('html').elementHandle();
  const frame = await root?.ownerFrame();
  if (!frame) {
    throw new Error('The page is gone.');
  }
  return frame;
}

/**
 * What axe-core objects to, a line for each element. It comes from outside, past the page's content security policy,
 * which stays as it is.
 */
export async function violations(frame: Frame): Promise<readonly string[]> {
  const source = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  await frame.evaluate(source);
  const found = await frame.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    // Style sheets would be loaded anew, which the policy forbids.
    return (await axe.run(document, { preload: false, resultTypes: ['violations'] })).violations;
  });
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${help}: ${html}: ${failureSummary}`),
  );
}

/** As much of a node of Chromium's accessibility tree as is told here. */
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

/** Roles that are told with their name in place of what is in them. */
const WHOLE = new Set(['button', 'heading', 'image', 'textbox', 'columnheader', 'rowheader']);
/** Told before what is in them; others only hold something together. */
const NAMED = new Set(['main', 'region', 'group', 'log', 'table', 'list', 'figure', 'blockquote']);

/**
 * The page as Chromium hands it to a screen reader, in reading order: a line for each heading, control, picture and
 * piece of text.
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
    // Its own address is another one for Chromium, since its document was written into it.
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

/** From now on everything that the page reads out by itself is kept for {@link heard}. */
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

/** What the page has read out since {@link listen}, a line for each sentence. */
export async function heard(page: FrameLocator): Promise<readonly string[]> {
  const kept = await page
    .locator('html')
    .evaluate((_, key) => (globalThis as unknown as Record<string, string[]>)[key], HEARD);
  return (kept ?? []).flatMap(text => text.split('\n'));
}
