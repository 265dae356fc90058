/** Wrong arguments (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;
/** What a person must mend before it can work. Ends of runs have codes of their own (events.ts). */
export const EXIT_FAILURE = 1;
