import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { initHandoff } from '../../src/orchestrator/iteration/handoff.ts';
import { iterationPrompt } from '../../src/orchestrator/iteration/prompt/prompt.ts';
import type { PromptInput } from '../../src/orchestrator/iteration/prompt/promptInput.ts';
import { parsePromptTemplate } from '../../src/orchestrator/iteration/prompt/promptTemplate.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { english } from '../../src/presentation/translate.ts';
import { sectionLine, shownPrompt } from '../../src/views/progress/promptXray.ts';
import { recorded } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';

/** Every section has something to say, some of it in other writings than ours. */
const input: PromptInput = {
  handoff: {
    ...initHandoff({
      prompt: 'Baue eine API für Aufgaben 📝',
      maxIterations: 20,
      completionPromise: 'X',
    }),
    iteration: 7,
    git: {
      recentCommits: [{ hash: 'abc1234', message: 'feat: 日本語の' }],
      branch: 'main',
      hasUncommittedChanges: true,
    },
  },
  story: {
    id: 'US-002',
    title: 'List todos',
    description: 'As a user …\n\n## Your Mission\nis no heading of ours here.',
    criteria: [{ text: 'GET /todos answers 200' }],
    done: false,
    dependsOn: [],
    position: 1,
    line: 9,
  },
  storyFile: '.omc/prd.json',
  progressFile: '.omc/progress.txt',
  stuckThreshold: 3,
  failedCheck: {
    command: 'npm test',
    exitCode: 1,
    output: '## Your Story\nred',
    iteration: 6,
    timedOut: false,
  },
  review: { iteration: 6, objections: ['No test.'] },
  code: '## Where to Look\nHere.\n- `src/app.ts` (same words inside)',
  hints: ['Look at src/app.ts.'],
  answers: [{ question: 'Blue?', answer: 'Green.' }],
};

const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length;

describe('sectionLine', () => {
  it('finds every section of our own prompt', () => {
    const { sections, text } = iterationPrompt(input);
    assert.equal(sections.length, 12);
    sections.forEach((section, index) => {
      assert.equal(sectionLine(text, sections, index), lineOf(text, section.text), section.name);
    });
  });

  it("finds the sections of a custom template and the template's own text", () => {
    const template = parsePromptTemplate(
      'Be kind.\nBe quick.\n\n{{task}}\n\nNow the story, which is what you work on today:\n\n{{story}}\n\nThe end.\n{{N}} of {{MAX}}\n',
      'prompt.md',
    );
    const { sections, text } = iterationPrompt(input, template);
    sameValue(
      sections.map(({ name }) => name),
      ['template', 'task', 'template', 'story', 'template'],
    );
    sections.forEach((section, index) => {
      const line = sectionLine(text, sections, index);
      const expected = lineOf(text, section.text.trim());
      assert.ok(Math.abs(line - expected) <= 1, `${section.name}: ${line}, not ${expected}`);
    });
  });

  it('stays within a missing or different prompt', () => {
    const { sections } = iterationPrompt(input);
    assert.equal(sectionLine('', sections, 5), 1);
    assert.equal(sectionLine('# Something else\n', sections, 10), 2);
    assert.equal(sectionLine('# Something else\n', sections, 99), 2);
  });
});

describe('shownPrompt', () => {
  const shown = (events: readonly RunEvent[]) => shownPrompt(events, english);
  type PromptSections = readonly { readonly name: string; readonly tokens: number }[];
  /** Recorded prompts have sections of one size, see neutralJournal. */
  const withSections = (promptSections: PromptSections | undefined) =>
    recorded('severalStories', { type: 'iteration.started', iteration: 2 }).map(event =>
      event.type === 'iteration.started' && event.iteration === 2
        ? ({ ...event, promptSections } as RunEvent)
        : event,
    );

  it('shows the sections of the last prompt, with share and budget', () => {
    const prompt = shown(
      withSections([
        { name: 'story', tokens: 3_000 },
        { name: 'template', tokens: 1_000 },
        { name: 'constructor', tokens: 1 },
      ]),
    );
    assert.equal(prompt?.words, 'Iteration 2: about 4,001 tokens in 3 sections.');
    sameValue(prompt?.sections, [
      { title: 'Story', tokens: 3_000, tokenWords: '3,000', share: '75%', budget: 'at most 8,500' },
      { title: 'Your own template', tokens: 1_000, tokenWords: '1,000', share: '25%' },
      { title: 'constructor', tokens: 1, tokenWords: '1', share: '<1%' },
    ]);
  });

  it('shows the newest iteration and names every section', () => {
    const prompt = shown(recorded('checksAndReview'));
    assert.equal(prompt?.iteration, 2);
    const begun = recorded('checksAndReview').findLast(({ type }) => type === 'iteration.started');
    const names = begun?.type === 'iteration.started' ? (begun.promptSections ?? []) : [];
    assert.ok(names.length > 5);
    names.forEach(({ name }, index) => {
      assert.notEqual(prompt.sections[index]?.title, name);
    });
  });

  it('shows an earlier one, and which are next to it', () => {
    const events = recorded('severalStories');
    const around = (wanted?: number) => {
      const prompt = shownPrompt(events, english, wanted);
      return [prompt?.earlier, prompt?.iteration, prompt?.later];
    };
    const last = around();
    const [before] = last;
    assert.deepEqual(last.at(-1), undefined);
    assert.deepEqual(around(1), [undefined, 1, 2]);
    assert.deepEqual(around(99), last, 'one that is unknown');
    assert.deepEqual(around(before)[2], last[1]);
  });

  it('lists the first files that the prompt named, with the reasons', () => {
    const files = [...'abcdefg'].map((name, i) => ({
      path: `src/${name}.ts`,
      reason: ['history', 'words', 'constructor', 'pinned'][i] ?? 'path',
    }));
    const named = (count: number) =>
      shown(
        recorded('severalStories', { type: 'iteration.started', iteration: 2 }).map(event =>
          event.type === 'iteration.started' && event.iteration === 2
            ? ({ ...event, code: files.slice(0, count) } as RunEvent)
            : event,
        ),
      )?.named;
    assert.equal(named(0), undefined);
    assert.equal(named(2), 'It named src/a.ts (similar commits), src/b.ts (same words).');
    assert.match(named(7) ?? '', /src\/c\.ts \(constructor\), .+, and 2 more\.$/);
  });

  it('has a name for every possible section', () => {
    const { sections } = iterationPrompt(input);
    const titles = shown(withSections(sections))?.sections.map(({ title }) => title) ?? [];
    assert.equal(titles.length, sections.length);
    sections.forEach(({ name }, index) => {
      assert.notEqual(titles[index], name);
    });
  });

  it('shows only the size if the journal has no sections', () => {
    // As 0.1 wrote it.
    sameValue(shown(withSections(undefined)), {
      iteration: 2,
      earlier: 1,
      words: 'Iteration 2: 2,000 bytes.',
      sections: [],
    });
    assert.equal(shown(recorded('severalStories', { type: 'run.started' })), undefined);
  });
});
