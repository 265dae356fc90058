import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LANGUAGES } from '../../scripts/lib/l10nStrings.ts';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf, say, sentences } from '../../src/base/say.ts';
import { parsePromptTemplate } from '../../src/orchestrator/iteration/prompt/promptTemplate.ts';
import { checkPlan } from '../../src/orchestrator/planner/planDraft.ts';
import { checkSplit } from '../../src/orchestrator/planner/splitDraft.ts';
import { parseSettings } from '../../src/orchestrator/settings/settingsFile.ts';
import { diagnoseStories } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { SAID, SaidWords } from '../../src/presentation/saidWords.ts';
import { outcomeSentence } from '../../src/presentation/sentences.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { type EventMatch, recorded } from '../support/recordedJournals.ts';
import { bundleOf, translationInto } from '../support/translations.ts';

const { said } = translationInto('de');
const OWNER = { kind: 'workspace' } as const;

/** What a failing call tells, in German. */
function inGerman(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof HumanError, String(error));
    const german = said(error.said);
    assert.equal(said(error.message), german, 'as a text of before');
    return german;
  }
  return assert.fail('It did not fail.');
}

for (const language of LANGUAGES) {
  const bundle = bundleOf(language);
  const keys = Object.keys(bundle).filter(key => key.endsWith(SAID));
  const words = new SaidWords(bundle);
  /** No words that a template could take for its own. */
  const value = fc.stringMatching(/^[a-z0-9/]{1,12}$/);
  const hasWords = (english: string) => /\p{L}/u.test(english.replaceAll(/\{\d+\}/g, ''));

  test(`every sentence of the loop is recognized for ${language}, whatever its placeholders contain`, () => {
    assert.ok(keys.length > 200);
    for (const key of keys) {
      const english = key.slice(0, -SAID.length);
      fc.assert(
        fc.property(fc.array(value, { minLength: 4, maxLength: 4 }), values => {
          const text = englishOf(say(english, ...values));
          // Without words of its own it is said for what stands in its places.
          const expected = hasWords(english) ? englishOf(say(bundle[key] ?? '', ...values)) : text;
          assert.equal(words.in(text), expected);
        }),
        { numRuns: 5 },
      );
    }
  });

  test(`other texts are not changed for ${language}`, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => {
        const isSaid = keys.includes(`${text}${SAID}`);
        assert.equal(words.in(text) === text || isSaid, true);
      }),
    );
    assert.equal(words.in('Show older'), 'Show older');
    assert.equal(words.in(`${'a: '.repeat(5_000)}b`), `${'a: '.repeat(5_000)}b`);
  });
}

describe('in a German window', () => {
  test('a settings error is completely German', () => {
    assert.equal(
      inGerman(() => parseSettings('{\n  "maxIterations": 0\n}', '/w/.omc/config.json', OWNER)),
      '/w/.omc/config.json, Zeile 2: "maxIterations" ist 0. Erwartet wird: eine ganze Zahl ab 1.',
    );
    assert.equal(
      inGerman(() => parseSettings('{"maxIteration": 3}', 'config.json', OWNER)),
      'config.json, Zeile 1: Es gibt keine Einstellung "maxIteration". Meinten Sie "maxIterations"?',
    );
  });

  test('a prompt template error is German', () => {
    assert.match(
      inGerman(() => parsePromptTemplate('Hello\n{{storry}}\n', 'prompt.md')),
      /^prompt\.md:2: \{\{storry\}\} ist unbekannt\. Meinten Sie \{\{story\}\}\? Bekannt sind hier: [\w, ]+\. Schreiben Sie "\\\{\{" für zwei Klammern\.$/,
    );
  });

  test('a story file problem is German', () => {
    const text = JSON.stringify(
      {
        userStories: [
          { id: 'A', title: 'One', passes: 'maybe', dependsOn: ['Z'] },
          { id: 'A', title: 'Two', passes: false },
        ],
      },
      undefined,
      1,
    );
    const { diagnoses } = diagnoseStories('prd.json', text);
    const told = diagnoses.map(({ message }) => said(message));
    assert.ok(
      told.includes(
        'Die Id A wird schon in Zeile 4 verwendet: Geben Sie dieser Story eine eigene Id.',
      ),
      told.join('\n'),
    );
    assert.deepEqual(
      told.filter((words, index) => words === englishOf(diagnoses[index]?.message ?? '')),
      [],
    );
  });

  test('the last output of a loop that failed to start is German, with the file and line', () => {
    const words =
      '/w/.omc/prd.json: Line 2: The JSON ends before the [ of line 1 is closed: the file was cut off, or a ] is missing.';
    assert.equal(
      said(words),
      '/w/.omc/prd.json: Zeile 2: Das JSON endet, bevor [ aus Zeile 1 geschlossen ist: Die Datei wurde abgeschnitten, oder ] fehlt.',
    );
  });

  test("a journal's reason why a run could not continue is German", () => {
    const detail = say(
      'No space is left on the disk ({0}), so the run was ended. Free some space in {1} or elsewhere on that disk, and run again to continue.',
      'ENOSPC',
      '/w/.omc/state',
    );
    const end = {
      outcome: 'error',
      iterations: 3,
      stories: { done: 1, total: 2 },
      detail,
    } as const;
    assert.equal(
      outcomeSentence(end, translationInto('de'), 'window').text,
      'Es geht nicht weiter: Auf dem Datenträger ist kein Platz mehr (ENOSPC), daher wurde der Lauf beendet. Schaffen Sie Platz in /w/.omc/state oder anderswo auf diesem Datenträger, und starten Sie erneut, um weiterzumachen.',
    );
  });

  test("all problems of a planning agent's draft are German, although they form one sentence", () => {
    const { problems = [] } = checkPlan(
      {
        ...{ project: 'a\nb', branchName: '..', description: '' },
        userStories: [{ id: 'one', title: 3, acceptanceCriteria: 'It works', passes: true }],
      },
      'Build it',
    );
    assert.ok(problems.length >= 8, problems.map(englishOf).join('\n'));
    const message = say(
      'The planning agent gave no valid plan in {0} tries: {1} Describe the task more clearly, or write the stories yourself.',
      3,
      sentences(problems),
    );
    const german = said(message);
    assert.equal(said(englishOf(message)), german);
    assert.equal(
      german,
      [
        'Der planende Agent hat in 3 Versuchen keinen gültigen Plan geliefert:',
        'project: muss eine einzige Zeile Text sein.',
        'branchName: ist kein gültiger Name eines Git-Branch; verwenden Sie einen wie ralph/todo-api.',
        'description: darf nicht leer sein.',
        'userStories[0].id: muss aussehen wie US-001.',
        'userStories[0].title: muss ein Text sein.',
        'userStories[0].acceptanceCriteria: muss eine Liste sein.',
        'userStories[0].priority: muss eine Zahl sein.',
        'userStories[0].passes: muss false sein: Noch ist nichts erledigt.',
        'Beschreiben Sie die Aufgabe klarer, oder schreiben Sie die Storys selbst.',
      ].join(' '),
    );
  });

  test('every schema problem of an answer has its own text', () => {
    const wrong: readonly unknown[] = [undefined, null, 3, '', 'x'.repeat(5_000), [], {}, -1, 1.5];
    const told = wrong.flatMap(value => {
      const story = { id: value, title: value, acceptanceCriteria: value, priority: value };
      const part = { title: value, acceptanceCriteria: [value], after: [value] };
      return [
        ...[value, { userStories: value }, { userStories: [value] }, { userStories: [story] }].map(
          draft => checkPlan(draft, 'Build it').problems ?? [],
        ),
        ...[value, { parts: value }, { parts: [part, value] }, { parts: Array(9).fill(part) }].map(
          answer => checkSplit(answer).problems ?? [],
        ),
      ].flat();
    });
    assert.ok(new Set(told.map(englishOf)).size > 20);
    for (const problem of told) {
      const english = englishOf(problem);
      assert.notEqual(said(problem), english);
      assert.equal(said(english), said(problem));
      assert.doesNotMatch(said(problem), /\b(?:must|expected|Invalid)\b/, english);
    }
  });

  test('the output of a loop that ends before its journal exists is German, even several lines', () => {
    const found =
      'No story file was found in /w: no prd.json, no Markdown plan, and no list of another tool (Task Master, Backlog.md, Spec Kit, Kiro, OpenSpec, BMAD, Beads, …). Let an agent plan the stories: ralph-fresh plan "your task" --write, or ralph-fresh run --prd "your task"; name a file with --file; or have a task done without stories: ralph-fresh run "your task".';
    assert.match(
      said(found),
      /^In \/w wurde keine Story-Datei gefunden: .*Beads, …\)\. Lassen Sie einen Agenten die Storys planen: /,
    );
    assert.equal(
      said(
        `(node:12) Warning: something\n"--max-iterations" is "0". It must be a whole number from 1.`,
      ),
      '(node:12) Warning: something\n"--max-iterations" ist "0". Erwartet wird: eine ganze Zahl ab 1.',
    );
    assert.equal(
      said('"--on-stuck" is "panic". It must be one of "warn", "skip", "ask", "stop".'),
      '"--on-stuck" ist "panic". Erwartet wird: eines von "warn", "skip", "ask", "stop".',
    );
  });

  test('a long foreign text is checked quickly and left unchanged', () => {
    for (const text of [
      'It failed: look. '.repeat(11),
      'a: b. '.repeat(1_600),
      `${'must be: '.repeat(9)} ${'There is no story in it. '.repeat(2)}`,
    ]) {
      const from = performance.now();
      said(text);
      assert.ok(performance.now() - from < 500, text.slice(0, 20));
    }
  });

  test('the transcript says in German why a run waits or ends and why another agent works', () => {
    const told = (name: string, until: EventMatch) => {
      const transcript = new Transcript(translationInto('de'), 'window');
      const lines = recorded(name, until).map(event => transcript.describe(event));
      return (
        lines
          .at(-1)
          ?.map(({ text }) => text)
          .join('\n') ?? ''
      );
    };
    assert.match(told('limitKnown', { type: 'limit.waiting' }), /^ {2}Nutzungslimit: five_hour$/m);
    assert.match(
      told('replaced', { type: 'agent.replaced' }),
      /^\[Ralph Fresh\] Der Agent claude konnte nicht gestartet werden \(Das Programm, das die erste Zeile von .* nennt .*\); stattdessen wird sdk verwendet$/,
    );
    assert.match(
      told('notStarted', { type: 'run.ended' }),
      /Es geht nicht weiter: Das Programm, das die erste Zeile von .* nennt/,
    );
    assert.equal(said(say("the agent's command")), 'der Befehl des Agenten');
  });
});
