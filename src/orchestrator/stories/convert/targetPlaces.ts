import path from 'node:path';
import { assertNever } from '../../../base/assertNever.ts';
import type { Target } from './conversion.ts';

/** Where converted stories are written if nobody names a file: a place where a run finds them. */
export function usualPlace(target: Target, source: string): string {
  switch (target) {
    case 'prd':
      return path.join('.omc', 'prd.json');
    case 'yaml':
      return path.join('.claude', 'orchestration', `${path.parse(source).name}.yaml`);
    case 'plan':
      return 'IMPLEMENTATION_PLAN.md';
    case 'tasks':
      return path.join('.ralph', 'tasks.jsonl');
    default:
      return assertNever(target);
  }
}
