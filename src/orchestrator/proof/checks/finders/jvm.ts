import { proposals, type VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

/** Maven, with its wrapper if there is one. */
export async function fromMaven(files: ProjectFiles): Promise<VerifyProposal[]> {
  const wrapper = files.has('mvnw') || files.has('mvnw.cmd');
  const program = wrapper ? files.own('mvnw', 'mvnw.cmd') : 'mvn';
  return files.has('pom.xml') ? proposals('pom.xml', [`${program} --batch-mode test`]) : [];
}

/** Gradle, with its wrapper if there is one. */
export async function fromGradle(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first([
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
  ]);
  const wrapper = files.has('gradlew') || files.has('gradlew.bat');
  const program = wrapper ? files.own('gradlew', 'gradlew.bat') : 'gradle';
  return source === undefined ? [] : proposals(source, [`${program} check`]);
}
