// Letters and a number: "T001", "US-3", "FR-AUTH-01", "P1.2". What follows must not be part of a word.
const CODE =
  /^(?:\*\*|__|[`[(])?([A-Z][A-Za-z]{0,9}(?:[-_][A-Z]{1,10}){0,2}[-_]?\d+(?:[.-]\d+)*[a-z]?)(?![\p{L}\p{N}-])(.*)$/su;
// Without punctuation after it, "S3 upload" has no id, but "T001 upload" does.
const PLAIN_CODE = /^(?:[A-Z]{1,5}\d{3,}|T\d+|[A-Z]+\d+(?:\.\d+)+|[A-Z]{2,10}-\d+)[a-z]?$/;
const AFTER_ID = /^(?:[:.)\]|`*_]|\s+[-\u2013\u2014:|]\s)/;
// "1.2 …", "4. …", "3) …", but not "16 presets".
const NUMBER = /^(?:\*\*|__|[`[(])?(\d{1,9}(?:\.\d{1,9})+|\d{1,9}(?=[.:)\]]))[.:)\]*_`]*(?:\s|$)/;

/** The id at the start of the text of an item, if it is unambiguous. */
export function idInText(text: string): string | undefined {
  const [, code, rest = ''] = CODE.exec(text) ?? [];
  if (code !== undefined && (AFTER_ID.test(rest) || PLAIN_CODE.test(code))) {
    return code;
  }
  return NUMBER.exec(text)?.[1];
}

/** `Task 3: Build`, also in bold. */
const LABEL = /^(?:\*\*|__)?(\p{L}{2,20} \d{1,4})(?:[:.\uFF1A]|\*\*|__|\s[-\u2013\u2014]\s)/u;

/** The word and number at the start of the text of an item, by which people call it: `Task 3`. It is no id. */
export function labelInText(text: string): string | undefined {
  return LABEL.exec(text)?.[1];
}
