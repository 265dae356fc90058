// npm run schema: writes schemas/prd.schema.json, which editors use for completion and explanation in prd.json.
// A test says when it has to be run again.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { prdSchemaText } from './lib/prdSchema.ts';

const file = path.resolve(import.meta.dirname, '..', 'schemas', 'prd.schema.json');
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, prdSchemaText());
