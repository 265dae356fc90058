/** Wrong arguments (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;
/** A person has to fix something first. The ends of runs have their own codes (events.ts). */
export const EXIT_FAILURE = 1;
