import { LANGUAGES, readTexts, schemaTexts } from './l10nStrings.ts';
import { prdSchemaText } from './prdSchema.ts';

/** A generated file, with its path in the project. */
interface SchemaFile {
  readonly file: string;
  readonly text: string;
}

/**
 * The schema of story files, in English and in each language.
 * @param root the project's folder
 */
export function schemaFiles(root: string): readonly SchemaFile[] {
  return [
    { file: 'schemas/prd.schema.json', text: prdSchemaText() },
    ...LANGUAGES.map(language => ({
      file: `schemas/prd.schema.${language}.json`,
      text: prdSchemaText(readTexts(root, schemaTexts(language))),
    })),
  ];
}
