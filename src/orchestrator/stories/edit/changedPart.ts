import type { Edit } from 'jsonc-parser';

/** The edit that makes one text of another: of the part from the first difference to the last. */
export function changedPart(before: string, after: string): Edit {
  const most = Math.min(before.length, after.length);
  let offset = 0;
  while (offset < most && before[offset] === after[offset]) {
    offset += 1;
  }
  let kept = 0;
  while (kept < most - offset && before.at(-1 - kept) === after.at(-1 - kept)) {
    kept += 1;
  }
  return {
    offset,
    length: before.length - kept - offset,
    content: after.slice(offset, after.length - kept),
  };
}
