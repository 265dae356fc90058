import { linesOf, type Sections, sectionsOf } from './configText.ts';
import type { VerifyProposal } from './finder.ts';
import type { ProjectFiles } from './projectFiles.ts';

/** The configuration of a Python tool: its own files, and sections of common ones. */
interface PythonTool {
  readonly command: string;
  readonly files: readonly string[];
  readonly pyproject: readonly string[];
  readonly setupCfg?: readonly string[];
  readonly toxIni?: readonly string[];
}

const PYTHON_TOOLS: readonly PythonTool[] = [
  {
    command: 'pytest',
    files: ['pytest.ini', '.pytest.ini', 'conftest.py'],
    pyproject: ['tool.pytest', 'tool.pytest.ini_options'],
    setupCfg: ['tool:pytest'],
    toxIni: ['pytest'],
  },
  { command: 'tox', files: ['tox.toml'], pyproject: ['tool.tox'], toxIni: ['tox', 'testenv'] },
  {
    command: 'ruff check',
    files: ['ruff.toml', '.ruff.toml'],
    pyproject: ['tool.ruff', 'tool.ruff.lint'],
  },
  {
    command: 'flake8',
    files: ['.flake8'],
    pyproject: [],
    setupCfg: ['flake8'],
    toxIni: ['flake8'],
  },
  {
    command: 'mypy',
    files: ['mypy.ini', '.mypy.ini'],
    pyproject: ['tool.mypy'],
    setupCfg: ['mypy'],
  },
  { command: 'pyright', files: ['pyrightconfig.json'], pyproject: ['tool.pyright'] },
];

/** Python: the configured tools, run with the project manager. */
export async function fromPython(files: ProjectFiles): Promise<VerifyProposal[]> {
  const [pyproject = '', setupCfg = '', toxIni = ''] = await Promise.all(
    ['pyproject.toml', 'setup.cfg', 'tox.ini'].map(name => files.text(name)),
  );
  const project = sectionsOf(pyproject);
  const configs = [
    { source: 'pyproject.toml', sections: project, key: 'pyproject' },
    { source: 'setup.cfg', sections: sectionsOf(setupCfg), key: 'setupCfg' },
    { source: 'tox.ini', sections: sectionsOf(toxIni), key: 'toxIni' },
  ] as const;
  const runner = pythonRunner(files, project);
  const found: VerifyProposal[] = [];
  for (const tool of PYTHON_TOOLS) {
    const config = configs.find(({ sections, key }) => tool[key]?.some(name => sections.has(name)));
    const source =
      config?.source ??
      files.first(tool.files) ??
      (tool.command === 'pytest' && needsPytest(pyproject) ? 'pyproject.toml' : undefined);
    if (source !== undefined) {
      const lines =
        config === undefined
          ? linesOf(await files.text(source))
          : tool[config.key]?.flatMap(name => config.sections.get(name) ?? []);
      found.push({ command: runner + pythonCommand(tool.command, lines ?? []), source });
    }
  }
  return found;
}

function needsPytest(pyproject: string): boolean {
  return linesOf(pyproject).some(line =>
    /["']pytest(?:["'\s<>=~!;[@]|$)|^\s*pytest\s*=/.test(line),
  );
}

/** mypy needs the files to check, either in its configuration or on the command line. */
function pythonCommand(command: string, config: readonly string[]): string {
  const namesFiles = config.some(line => /^\s*(?:files|packages|modules)\s*=/.test(line));
  return command === 'mypy' && !namesFiles ? 'mypy .' : command;
}

function pythonRunner(files: ProjectFiles, pyproject: Sections): string {
  if (files.has('uv.lock') || pyproject.has('tool.uv')) {
    return 'uv run ';
  }
  if (files.has('poetry.lock') || pyproject.has('tool.poetry')) {
    return 'poetry run ';
  }
  return files.has('pdm.lock') || pyproject.has('tool.pdm') ? 'pdm run ' : '';
}
