import type { ProgressStrings } from '../views/progress/protocol.ts';
/** Inserts values for the placeholders `{0}`, `{1}`, … of a text. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index) => String(values[Number(index)] ?? place));
}

/** Hours and minutes, or minutes and seconds. The smaller unit has two digits, so that columns align. */
export function durationWords(ms: number, strings: ProgressStrings): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) {
    return fill(strings.seconds, seconds);
  }
  return minutes < 60
    ? fill(strings.minutes, minutes, twoDigits(seconds % 60))
    : fill(strings.hours, Math.floor(minutes / 60), twoDigits(minutes % 60));
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
