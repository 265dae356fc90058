import { LANGUAGES, readTexts, schemaTexts } from './l10nStrings.ts';
import { orchestrationSchemaText } from './orchestrationSchema.ts';
import { prdSchemaText } from './prdSchema.ts';
import { ralphySchemaText } from './ralphySchema.ts';

/** A generated file, with its path in the project. */
interface SchemaFile {
  readonly file: string;
  readonly text: string;
}

const SCHEMAS = {
  prd: prdSchemaText,
  orchestration: orchestrationSchemaText,
  ralphy: ralphySchemaText,
} as const;

/**
 * The schemas of story files, each in English and in each language.
 * @param root the project's folder
 */
export function schemaFiles(root: string): readonly SchemaFile[] {
  return Object.entries(SCHEMAS).flatMap(([name, textIn]) => [
    { file: `schemas/${name}.schema.json`, text: textIn() },
    ...LANGUAGES.map(language => ({
      file: `schemas/${name}.schema.${language}.json`,
      text: textIn(readTexts(root, schemaTexts(language))),
    })),
  ]);
}
