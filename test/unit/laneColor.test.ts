import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LANE_COLORS, laneColor } from '../../src/views/terminal/laneColor.ts';

/** VS Code's defaults (1.103 to 1.139): the background of its terminal, and the palette, by the number of the color. */
const THEMES = {
  light: { background: '#f8f8f8', 36: '#0598bc', 35: '#bc05bc', 94: '#3b8eea', 32: '#107c10' },
  dark: { background: '#1f1f1f', 36: '#11a8cd', 35: '#bc3fbc', 94: '#3b8eea', 32: '#0dbc79' },
  hcDark: { background: '#000000', 36: '#00cdcd', 35: '#cd00cd', 94: '#5c5cff', 32: '#00cd00' },
  hcLight: { background: '#ffffff', 36: '#0598bc', 35: '#bc05bc', 94: '#0451a5', 32: '#136c13' },
} as const;

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

for (const [theme, palette] of Object.entries(THEMES)) {
  // The terminal raises it to 4.5 (`terminal.integrated.minimumContrastRatio`), unless a person turns that off.
  test(`lane colors are readable and distinct in the theme ${theme}`, () => {
    for (const color of LANE_COLORS) {
      const ratio = contrast(palette[color], palette.background);
      assert.ok(ratio >= 2.9, `${color}: ${ratio}`);
    }
    assert.equal(new Set(LANE_COLORS.map(color => palette[color])).size, LANE_COLORS.length);
  });
}

test('each lane keeps its color, and eight of them are distinct', () => {
  const looks = Array.from({ length: 16 }, (_, index) => laneColor(index + 1));
  assert.equal(new Set(looks.slice(0, 8)).size, 8);
  assert.deepEqual(looks.slice(8), looks.slice(0, 8));
  assert.equal(laneColor(1), '\x1b[36m');
  assert.equal(laneColor(5), '\x1b[1;36m');
});
