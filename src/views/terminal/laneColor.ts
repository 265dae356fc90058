/**
 * Colors of the terminal's palette, which each theme defines; a number of the 256 is the same everywhere. These have
 * enough contrast and differ from each other in VS Code's light, dark and high contrast themes, and do not say that
 * something went well or wrong: cyan, magenta, bright blue, green.
 */
export const LANE_COLORS = [36, 35, 94, 32] as const;
const BOLD = 1;

/**
 * The escape sequence before the name of a story, by the lane of its agent. Never the only sign: the id of the story
 * stands there. Pure.
 * @param lane from 1; beyond the colors, they begin again, bold
 */
export function laneColor(lane: number): string {
  const index = Math.max(0, lane - 1);
  const color = LANE_COLORS[index % LANE_COLORS.length] ?? LANE_COLORS[0];
  const isBold = index % (2 * LANE_COLORS.length) >= LANE_COLORS.length;
  return `\x1b[${isBold ? `${BOLD};` : ''}${color}m`;
}
