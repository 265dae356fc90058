import { sectionsOf } from './configText.ts';
import { proposals, type VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

/** A solution's name becomes part of a shell command. */
const PLAIN_NAME = /^\w[\w.-]*$/;

/** Rust: the tests, and clippy if it is configured. */
export async function fromCargo(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = 'Cargo.toml';
  const sections = sectionsOf(await files.text(source));
  if (sections.size === 0) {
    return [];
  }
  const all = sections.has('workspace') ? ' --workspace' : '';
  const usesClippy =
    files.first(['clippy.toml', '.clippy.toml']) !== undefined ||
    sections.has('lints.clippy') ||
    sections.has('workspace.lints.clippy');
  return proposals(source, [
    `cargo test${all}`,
    ...(usesClippy ? [`cargo clippy${all} --all-targets`] : []),
  ]);
}

/** Go: the tests, vet, and the linter if it is configured. */
export async function fromGo(files: ProjectFiles): Promise<VerifyProposal[]> {
  if (!files.has('go.mod')) {
    return [];
  }
  const linter = files.first(['yml', 'yaml', 'toml', 'json'].map(end => `.golangci.${end}`));
  return [
    ...proposals('go.mod', ['go test ./...', 'go vet ./...']),
    ...(linter === undefined ? [] : proposals(linter, ['golangci-lint run'])),
  ];
}

/** Elixir: the tests, and credo. */
export async function fromMix(files: ProjectFiles): Promise<VerifyProposal[]> {
  const text = await files.text('mix.exs');
  return text === ''
    ? []
    : proposals('mix.exs', ['mix test', ...(/\{\s*:credo\b/.test(text) ? ['mix credo'] : [])]);
}

/** .NET: the solution or project, by name if there are several. */
export async function fromDotnet(files: ProjectFiles): Promise<VerifyProposal[]> {
  const names = [...files.names].sort();
  const solutions = names.filter(name => /\.slnx?$/i.test(name));
  const projects = names.filter(name => /\.(?:cs|fs|vb)proj$/i.test(name));
  const [only, ...others] = [...solutions, ...projects];
  if (only === undefined) {
    return [];
  }
  if (others.length === 0) {
    return proposals(only, ['dotnet test']);
  }
  // With several in a folder, dotnet needs the name.
  return (solutions.length > 0 ? solutions : projects)
    .filter(name => PLAIN_NAME.test(name))
    .map(name => ({ command: `dotnet test ${name}`, source: name }));
}
