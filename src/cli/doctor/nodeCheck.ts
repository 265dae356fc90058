import type { Finding } from '../../presentation/doctorReport.ts';
import { good, wrong } from './findings.ts';

/** `engines.node` of package.json. */
const OLDEST_NODE = 20;

/** Whether the Node.js that runs this program is recent enough. */
export async function nodeCheck(): Promise<readonly Finding[]> {
  const version = process.versions.node;
  return [
    Number.parseInt(version, 10) >= OLDEST_NODE
      ? good('node', `Node.js ${version}`)
      : wrong('node', `Node.js ${version} is too old.`, `Install version ${OLDEST_NODE} or newer.`),
  ];
}
