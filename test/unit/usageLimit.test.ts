import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readLimit, resetFromEpoch } from '../../src/orchestrator/agents/claude/usageLimit.ts';

const MINUTE = 60_000;
const now = Date.parse('2026-10-07T12:00:00Z');

/** When the limit ends, as a UTC time; `undefined` for a limit without a moment. */
function resets(text: string, at = now, zone = 'UTC'): string | undefined {
  const reading = readLimit(text, at, zone);
  assert.equal(reading?.kind, 'usageLimit', text);
  const { resetsAt } = reading as { resetsAt?: number };
  return resetsAt === undefined ? undefined : new Date(resetsAt).toISOString();
}

describe('readLimit', () => {
  const moments: readonly (readonly [string, string])[] = [
    ["You've hit your session limit · resets 5pm (Europe/Berlin)", '2026-10-07T15:00:00.000Z'],
    ["You've hit your session limit · resets 8:30pm (Asia/Tokyo)", '2026-10-08T11:30:00.000Z'],
    ["You've hit your limit · resets 12:50am (America/Los_Angeles)", '2026-10-08T07:50:00.000Z'],
    ["You've hit your session limit · resets 1am (Asia/Singapore)", '2026-10-07T17:00:00.000Z'],
    [
      "You've hit your weekly limit · resets Oct 9, 10am (America/New_York)",
      '2026-10-09T14:00:00.000Z',
    ],
    ["You've hit your Opus weekly limit · resets Oct 9 at 12pm", '2026-10-09T12:00:00.000Z'],
    [
      "You've hit your session limit · resets 5pm (UTC) · progress saved",
      '2026-10-07T17:00:00.000Z',
    ],
    ["You're out of usage credits · resets Oct 9, 5pm (UTC)", '2026-10-09T17:00:00.000Z'],
    ['Claude AI usage limit reached|1791460800', '2026-10-08T12:00:00.000Z'],
    ['5-hour limit reached ∙ resets 3:30pm', '2026-10-07T15:30:00.000Z'],
    ['Weekly limit reached ∙ resets Oct 9, 5pm', '2026-10-09T17:00:00.000Z'],
    [
      'Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).',
      '2026-10-07T18:00:00.000Z',
    ],
    [
      "ERROR: You've hit your usage limit. Upgrade to Pro (https://example.com/x), or try again at 9:53 PM.",
      '2026-10-07T21:53:00.000Z',
    ],
    [
      "You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.",
      '2026-10-10T16:05:00.000Z',
    ],
    [
      "You've hit your usage limit. Please try again at Oct 9th, 2026 10:13 AM.",
      '2026-10-09T10:13:00.000Z',
    ],
    [
      'You have exhausted your daily quota on this model. Your quota will reset after 5h12m30s.',
      '2026-10-07T17:12:30.000Z',
    ],
    ["You've hit your weekly limit · resets 2026-10-08T01:00:00+02:00", '2026-10-07T23:00:00.000Z'],
  ];
  for (const [text, moment] of moments) {
    it(`reads “${text}”`, () => assert.equal(resets(text), moment));
  }

  it('ignores what a program prints before the message', () => {
    const notice = "You've hit your session limit · resets 5pm (UTC)";
    for (const lead of [
      'API Error: ',
      'API Error: 429 ',
      'API Error 429: ',
      'Error: ',
      '[2026-10-07T11:59:59] ERROR: ',
      '[API Error: ',
      '  ⎿  ',
      'Something else went wrong\n',
    ]) {
      assert.equal(resets(lead + notice), '2026-10-07T17:00:00.000Z', lead);
    }
  });

  it('uses the local time zone if none or an unknown one is named', () => {
    const text = "You've hit your session limit · resets 5pm";
    assert.equal(resets(text, now, 'Asia/Kolkata'), '2026-10-08T11:30:00.000Z');
    assert.equal(resets(`${text} (Mars/Base)`, now, 'Europe/Paris'), '2026-10-07T15:00:00.000Z');
  });

  it("respects the zone's change to winter time", () => {
    const evening = Date.parse('2026-10-24T20:00:00Z');
    const text = "You've hit your session limit · resets 4am (Europe/Berlin)";
    assert.equal(resets(text, evening), '2026-10-25T03:00:00.000Z');
  });

  it('handles the turn of the year', () => {
    const eve = Date.parse('2026-12-31T20:00:00Z');
    const text = "You've hit your weekly limit · resets Jan 3, 10am (UTC)";
    assert.equal(resets(text, eve), '2027-01-03T10:00:00.000Z');
  });

  it('does not wait a day or a year for a minute that has just passed', () => {
    const late = Date.parse('2026-10-09T10:00:20Z');
    const soon = new Date(late + MINUTE).toISOString();
    assert.equal(resets("You've hit your session limit · resets 10am (UTC)", late), soon);
    assert.equal(resets("You've hit your weekly limit · resets Oct 9, 10am (UTC)", late), soon);
    assert.equal(resets(`usage limit reached|${late / 1000 - 20}`, late), soon);
  });

  it('returns no time if none, or an impossible one, is named', () => {
    for (const text of [
      "You've hit your session limit",
      "You've reached your Fable limit.",
      'Weekly limit reached',
      "You've hit your session limit · resets soon",
      "You've hit your session limit · resets 25:99",
      "You've hit your weekly limit · resets Feb 3, 10am (UTC)",
      'Claude AI usage limit reached|1000000000',
      'Claude AI usage limit reached|9999999999999',
    ]) {
      assert.equal(resets(text), undefined, text);
    }
  });

  it('recognizes limits that only a person can raise', () => {
    for (const text of [
      "You've hit your monthly spend limit. See Usage in Settings",
      "You've hit your individual spend limit · ask your admin to raise it",
      "You've hit your org's monthly usage limit · resets Nov 1 (UTC)",
      "You're out of usage credits. See Usage in Settings",
      "You're out of extra usage",
    ]) {
      assert.deepEqual(readLimit(text, now, 'UTC'), { kind: 'billing' }, text);
    }
  });

  it('ignores other failures', () => {
    for (const text of [
      '',
      'API Error: 400 messages.1: too odd',
      'API Error: 429 Slow down',
      'Reached maximum number of turns (100)',
      'Context limit reached · /compact or /clear to continue',
      "You've hit your fast limit · resets in 2m",
      'The rate limiter in worker.js resets at 5pm',
      'Credit balance is too low',
      "API Error 400: the tool said You've hit your session limit",
      'API Error: 400 the page says: Claude AI usage limit reached|1791460800',
      "The test expects “You've hit your monthly spend limit”",
      "Failed: the log has\n  > You're out of usage credits · resets 5pm",
    ]) {
      assert.equal(readLimit(text, now, 'UTC'), undefined, text);
    }
  });

  it('never throws, and every returned time lies ahead', () => {
    const piece = fc.constantFrom(
      "You've hit your session limit",
      'usage limit reached|',
      'limit reached',
      ' · resets ',
      ' try again in ',
      'Feb 30, ',
      'Oct 9, 2026 at ',
      '12:30am',
      '99',
      '5 days 3 h',
      '1791460800',
      ' (Europe/Berlin)',
      ' (Not/AZone)',
      '\n',
    );
    const text = fc
      .array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 12 })
      .map(parts => parts.join(''));
    const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(text, moment, (words, at) => {
        const reading = readLimit(words, at, 'Europe/Berlin');
        if (reading?.kind !== 'usageLimit' || reading.resetsAt === undefined) return;
        assert.ok(reading.resetsAt > at);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds the next such time in every zone, at most a day and a clock change ahead', () => {
    const zones = [
      'UTC',
      'America/St_Johns',
      'Pacific/Auckland',
      'Asia/Kathmandu',
      'Europe/Berlin',
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
        fc.constantFrom(...zones),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('am', 'pm'),
        (at, zone, hour, half) => {
          const reading = readLimit(
            `You've hit your session limit · resets ${hour}${half} (${zone})`,
            at,
          );
          assert(reading?.kind === 'usageLimit' && reading.resetsAt !== undefined);
          assert.ok(reading.resetsAt > at && reading.resetsAt <= at + 25 * 60 * MINUTE);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('resetFromEpoch', () => {
  it('accepts seconds and milliseconds, and refuses times in the past or years ahead', () => {
    assert.equal(resetFromEpoch(now / 1000 + 3600, now), now + 60 * MINUTE);
    assert.equal(resetFromEpoch(now + 60 * MINUTE, now), now + 60 * MINUTE);
    assert.equal(resetFromEpoch(now / 1000 - 3600, now), undefined);
    assert.equal(resetFromEpoch(now / 1000 + 1e8, now), undefined);
    assert.equal(resetFromEpoch(0, now), undefined);
  });
});
