import { proposals, type VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

/** Ruby: rspec, rake or rails, and rubocop. */
export async function fromRuby(files: ProjectFiles): Promise<VerifyProposal[]> {
  const source = files.first(['Gemfile', 'gems.rb']);
  if (source === undefined) {
    return [];
  }
  const gemfile = await files.text(source);
  const hasGem = (name: string) =>
    new RegExp(`^[ \\t]*gem[ \\t(]+["']${name}["']`, 'm').test(gemfile);
  const usesRspec = hasGem('rspec') || hasGem('rspec-rails') || files.has('.rspec');
  const rakefile = files.first(['Rakefile', 'rakefile', 'Rakefile.rb', 'rakefile.rb']);
  const rake = await files.text(rakefile);
  const hasTestTask = /\bTestTask\b|^[ \t]*(?:multi)?task[ \t(]+:?["']?test\b/m.test(rake);
  return [
    ...proposals(source, usesRspec ? ['bundle exec rspec'] : []),
    ...proposals(rakefile ?? '', hasTestTask ? ['bundle exec rake test'] : []),
    // The Rakefile of a Rails application loads the framework's tasks.
    ...proposals(
      source,
      hasGem('rails') && !usesRspec && !hasTestTask ? ['bundle exec rails test'] : [],
    ),
    ...proposals(
      source,
      hasGem('rubocop') || files.has('.rubocop.yml') ? ['bundle exec rubocop'] : [],
    ),
  ];
}
