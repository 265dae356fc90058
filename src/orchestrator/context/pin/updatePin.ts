import type { PastCommit } from '../../git/fileHistory.ts';
import { codeWords } from '../codeWords.ts';
import { type CodeFolder, codeFolders } from './folders.ts';
import {
  type AgentWords,
  type GeneratedEntry,
  generatedLines,
  plainAgentWords,
  type StalePath,
} from './generatedLines.ts';
import { type FileFacts, keywordsOf } from './keywords.ts';
import { isAtOrBelow } from './pinFields.ts';
import {
  folderOf,
  isEntry,
  MARK,
  type Pin,
  type PinSection,
  placesOf,
  readPin,
  TOP_FOLDER,
} from './pinText.ts';
import { type SpecDocument, specsOf } from './specDocuments.ts';
import { type LineEdits, withEdits, withSections } from './textEdits.ts';

/** What a Pin is generated from. */
export interface CodeFacts {
  /** Source files. */
  readonly files: readonly FileFacts[];
  readonly specs: readonly SpecDocument[];
  /** Newest first. */
  readonly commits: readonly PastCommit[];
}

/** An entry of the updated Pin. */
export interface UpdatedEntry {
  readonly title: string;
  readonly files: readonly FileFacts[];
  /** Those of a person, and the generated ones. */
  readonly keywords: readonly string[];
  /** The whole section is generated. */
  readonly isGenerated: boolean;
  readonly stale: readonly StalePath[];
}

/** The updated text. */
export interface UpdatedPin {
  readonly text: string;
  readonly entries: readonly UpdatedEntry[];
}

/** What a new Pin begins with. It belongs to the person from then on. */
const HEADER = [
  '# Specs Index (The Pin)',
  '',
  'Search this file for keywords before you write new code: each section names a part of the project with its files.',
  '`ralph-fresh pin` updates the lines and the sections that say "generated". Everything else is yours, and stays.',
];
/** Files that an entry names in addition to its folder. */
const MAX_FILES = 6;
const HALF_LIFE = 200;

/**
 * The paths that a person wrote into the entries: those that are not there are marked.
 * @returns each once
 */
export function namedPaths(text: string): string[] {
  const sections = readPin(text).sections.filter(isEntry);
  return [...new Set(sections.flatMap(section => ownPaths(section)))];
}

/** Of a section that only became a person's, also the folder of its title. */
function ownPaths(section: PinSection): string[] {
  const { files, hasOwnLines, isMarked, specs, title } = section;
  const folder = isMarked && hasOwnLines ? folderOf(title) : '';
  return [...files, ...specs, ...(folder === '' ? [] : [`${folder}/`])];
}

/**
 * Generates what a Pin says about the code, and keeps every line of a person byte for byte. Pure; the same input gives
 * the same text, and so does its own output.
 * @param text without a byte order mark; '' for a new Pin
 * @param missing those of {@link namedPaths} that are not there, with the commit that removed them
 * @param said by an agent, by title; others keep what was said before
 */
export function updatePin(
  text: string,
  facts: CodeFacts,
  missing: ReadonlyMap<string, string | undefined>,
  said: ReadonlyMap<string, AgentWords> = new Map(),
): UpdatedPin {
  const pin = readPin(text);
  const parts = partsOf(pin, facts);
  const found = generated(parts, facts, missing, said);
  const edits: LineEdits = { removed: new Set(), inserted: new Map() };
  const added: string[][] = [];
  parts.forEach(({ section, title }, i) => {
    const lines = generatedLines(found[i] ?? NOTHING);
    if (section === undefined) {
      added.push([`## ${title}`, MARK, ...lines]);
    } else {
      for (const line of section.generatedLines) {
        edits.removed.add(line);
      }
      edits.inserted.set(anchorOf(section), lines);
    }
  });
  for (const section of pin.sections.filter(one => isGone(one, pin, parts))) {
    for (let line = section.heading; line < section.end; line++) {
      edits.removed.add(line);
    }
  }
  const isNew = text === '' && added.length > 0;
  const kept = isNew ? `${HEADER.join('\n')}\n` : withEdits(text, pin.lines, edits);
  return {
    text: withSections(kept, added),
    entries: parts.map((part, i) => updatedEntry(part, found[i] ?? NOTHING)),
  };
}

const NOTHING: GeneratedEntry = { agent: {}, keywords: [], files: [], specs: [], stale: [] };

/** A part of the code with its entry in the Pin, if it has one already. */
interface Part {
  readonly title: string;
  readonly section: PinSection | undefined;
  /** Of the whole part, '' for the top folder; absent for an entry of a person. */
  readonly folder: string | undefined;
  /** Where its files are. */
  readonly places: readonly string[];
  readonly files: readonly FileFacts[];
}

function partsOf(pin: Pin, { files }: CodeFacts): Part[] {
  const entries = pin.sections.filter(isEntry);
  const byPerson = entries.filter(({ isMarked }) => !isMarked);
  const below = (places: readonly string[]) =>
    files.filter(({ path }) => places.some(place => isAtOrBelow(path, place)));
  const covered = byPerson
    .flatMap(placesOf)
    .filter(place => files.some(({ path }) => path !== place && isAtOrBelow(path, place)));
  const rest = files.filter(({ path }) => !covered.some(place => isAtOrBelow(path, place)));
  const folders = codeFolders(rest.map(({ path }) => path));
  const marked = new Map<string, PinSection>();
  for (const section of entries.filter(one => one.isMarked).toReversed()) {
    marked.set(folderOf(section.title), section);
  }
  const taken = new Set(pin.sections.map(({ title }) => title));
  return [
    ...byPerson.map((section): Part => {
      const places = placesOf(section);
      return { title: section.title, section, folder: undefined, places, files: below(places) };
    }),
    ...Array.from(marked, ([folder, section]): Part | undefined =>
      markedPart(
        section,
        folders.find(one => one.folder === folder),
        files,
        below,
      ),
    ).filter(part => part !== undefined),
    ...folders.filter(({ folder }) => !marked.has(folder)).map(one => newPart(one, files, taken)),
  ];
}

/** An entry that was generated before: of a folder that still is a part, or with lines of a person. */
function markedPart(
  section: PinSection,
  found: CodeFolder | undefined,
  files: readonly FileFacts[],
  below: (places: readonly string[]) => readonly FileFacts[],
): Part | undefined {
  const folder = folderOf(section.title);
  if (found === undefined && !section.hasOwnLines) {
    return undefined;
  }
  const places = placesOf(section);
  const own = new Set(found?.files);
  const listed = new Set(below(found === undefined ? places : section.files));
  return {
    ...{ title: section.title, section, folder, places },
    files: files.filter(file => own.has(file.path) || listed.has(file)),
  };
}

function newPart(
  { files: own, folder }: CodeFolder,
  files: readonly FileFacts[],
  taken: ReadonlySet<string>,
): Part {
  let title = folder === '' ? TOP_FOLDER : folder;
  // Two headings with one name would make the groups of stories below them ambiguous.
  while (taken.has(title) && folder !== '') {
    title += '/';
  }
  const paths = new Set(own);
  return {
    ...{ title, section: undefined, folder },
    places: folder === '' ? [] : [`${folder}/`],
    files: files.filter(({ path }) => paths.has(path)),
  };
}

function generated(
  parts: readonly Part[],
  facts: CodeFacts,
  missing: ReadonlyMap<string, string | undefined>,
  said: ReadonlyMap<string, AgentWords>,
): GeneratedEntry[] {
  const activity = activityOf(facts);
  const keywords = keywordsOf(
    parts.map(({ files, folder, title }) => ({ files, name: folder ?? title })),
    facts.commits,
  );
  return parts.map((part, i): GeneratedEntry => {
    const { files, places, section, title } = part;
    const agent = plainAgentWords(said.get(title) ?? section?.agent ?? {});
    const known = new Set(
      [...(section?.keywords ?? []), ...(agent.keywords ?? [])].map(word =>
        codeWords(word).join(' '),
      ),
    );
    const named = new Set([...(section?.files ?? []), ...(section?.specs ?? [])]);
    const all = [...places, ...files.map(({ path }) => path)];
    return {
      agent,
      keywords: (files.length === 0 ? [] : (keywords[i] ?? [])).filter(
        word => !known.has(codeWords(word).join(' ')),
      ),
      files: filesOf(part, activity).filter(file => !named.has(file)),
      specs: specsOf(facts.specs, all, title).filter(spec => !named.has(spec)),
      stale: section === undefined ? [] : staleIn(section, missing),
    };
  });
}

function staleIn(
  section: PinSection,
  missing: ReadonlyMap<string, string | undefined>,
): StalePath[] {
  return ownPaths(section)
    .filter(path => missing.has(path))
    .map(path => {
      const since = missing.get(path);
      return since === undefined ? { path } : { path, since };
    });
}

/** How often each file was changed; what is long ago counts less. */
function activityOf({ commits }: CodeFacts): ReadonlyMap<string, number> {
  const activity = new Map<string, number>();
  commits.forEach(({ files }, age) => {
    for (const file of files) {
      const share = 0.5 ** (age / HALF_LIFE) / Math.sqrt(files.length);
      activity.set(file, (activity.get(file) ?? 0) + share);
    }
  });
  return activity;
}

/** The folder and its most active files. Of an entry of a person, those in the folders that it names. */
function filesOf({ files, folder, places }: Part, activity: ReadonlyMap<string, number>): string[] {
  const isListed = (path: string) => places.includes(path);
  const busy = (path: string) => activity.get(path) ?? 0;
  const first = files
    .map(({ path }) => path)
    .filter(path => !isListed(path))
    .sort((a, b) => busy(b) - busy(a) || (a < b ? -1 : 1))
    .slice(0, MAX_FILES);
  return folder === undefined || folder === '' || files.length === 0
    ? first
    : [`${folder}/`, ...first];
}

/** Where the generated lines of a section stand, or will. */
function anchorOf({ fieldsEnd, generatedLines: [first], heading, isMarked }: PinSection): number {
  return first ?? fieldsEnd ?? heading + (isMarked ? 2 : 1);
}

/** A section that was generated as a whole and has no part of the code any more, or a second one for it. */
function isGone(section: PinSection, { sections }: Pin, parts: readonly Part[]): boolean {
  const next = sections[sections.indexOf(section) + 1];
  const hasSections = next !== undefined && next.level > section.level;
  return (
    section.isMarked &&
    !section.hasOwnLines &&
    !hasSections &&
    parts.every(part => part.section !== section)
  );
}

function updatedEntry(part: Part, entry: GeneratedEntry): UpdatedEntry {
  const { files, section, title } = part;
  return {
    ...{ title, files, stale: entry.stale },
    keywords: [...(section?.keywords ?? []), ...(entry.agent.keywords ?? []), ...entry.keywords],
    isGenerated: section === undefined || (section.isMarked && !section.hasOwnLines),
  };
}
