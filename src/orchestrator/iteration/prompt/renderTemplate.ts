import { asData, commandText } from './foreignText.ts';
import { commitsOf, learningsOf, nextStoryIdOf, patternsOf, taskOf } from './promptFacts.ts';
import type { PromptInput } from './promptInput.ts';
import type { PromptTemplate } from './promptTemplate.ts';
import { FACTS, type FactName, LISTS, type ListName, type Part } from './templateParts.ts';
import { shortenToTokens } from './tokens.ts';

/**
 * Fills in a template. Placeholders in the inserted text are not replaced. Pure.
 * @param ready the sections of the usual prompt, which a template may name
 */
export function renderTemplate(
  template: PromptTemplate,
  input: PromptInput,
  ready: readonly { readonly name: string; readonly text: string }[],
): { name: string; text: string }[] {
  const sections = new Map(ready.map(({ name, text }) => [name, text]));
  const rendered: { name: string; text: string }[] = [];
  const add = (name: string, text: string) => {
    const last = rendered.at(-1);
    if (last?.name === name && name === 'template') {
      last.text += text;
    } else {
      rendered.push({ name, text });
    }
  };
  let dropsLine = false;
  for (const part of template.parts) {
    if (part.kind === 'section') {
      const text = sections.get(part.name) ?? '';
      dropsLine = part.alone && text === '';
      add(part.name, text);
    } else {
      const text = textOf(part, input);
      add('template', dropsLine ? text.replace(/^\n{1,2}/, '') : text);
      dropsLine = false;
    }
  }
  return rendered;
}

function textOf(part: Exclude<Part, { kind: 'section' }>, input: PromptInput): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'fact':
      return factOf(part.name, input);
    case 'list': {
      const items = itemsOf(part.name, input);
      return items.length === 0 ? '- none yet' : items.map(item => `- ${item['this']}`).join('\n');
    }
    case 'each':
      return itemsOf(part.name, input)
        .map(item =>
          part.item
            .map(piece => (piece.kind === 'text' ? piece.text : (item[piece.name] ?? '')))
            .join(''),
        )
        .join('');
  }
}

function factOf(name: FactName, input: PromptInput): string {
  const { handoff } = input;
  const { prd } = handoff;
  const line = (text: string | undefined) => shortenToTokens(text ?? '', FACTS[name]);
  const facts: Readonly<Record<FactName, () => string>> = {
    N: () => String(handoff.iteration),
    MAX: () => String(handoff.max_iterations),
    original_prompt: () => asData(taskOf(input), FACTS[name]),
    project: () => line(prd?.project),
    branch: () => line(handoff.git.branch),
    completed: () => String(prd?.storiesCompleted ?? 0),
    total: () => String(prd?.storiesTotal ?? 0),
    remaining: () => String((prd?.storiesTotal ?? 0) - (prd?.storiesCompleted ?? 0)),
    nextStoryId: () => line(nextStoryIdOf(handoff)),
    nextStoryTitle: () => line(input.story?.title),
    lastCompletedStory: () => line(handoff.progress.lastCompletedStory),
    lastError: () => line(handoff.lastError?.message),
    completion_promise: () => line(handoff.completion_promise),
    storyFile: () => line(input.storyFile),
    progressFile: () => line(input.plan?.progressFile ?? input.progressFile),
  };
  return facts[name]();
}

function itemsOf(name: ListName, input: PromptInput): Record<string, string>[] {
  switch (name) {
    case 'recentCommits':
      return commitsOf(input.handoff).map(({ hash, message }) => ({
        hash,
        message,
        this: `${hash}: ${message}`,
      }));
    case 'patterns':
      return patternsOf(input.handoff).map(text => ({ this: text }));
    case 'learnings':
      return learningsOf(input.handoff).map(text => ({ this: text }));
    case 'verify':
      return (input.verify ?? [])
        .slice(0, LISTS.verify.items)
        .map(command => ({ this: commandText(command) }));
  }
}
