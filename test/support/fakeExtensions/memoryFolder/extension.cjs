// A fake extension whose folders are not on a disk, like those of a remote repository.
const vscode = require('vscode');

const files = new Map([
  ['/README.md', '# A folder in memory\n'],
  ['/prd.json', '{ "userStories": [{ "id": "US-001", "title": "In memory", "passes": false }] }\n'],
]);

const provider = {
  onDidChangeFile: new vscode.EventEmitter().event,
  watch: () => ({ dispose() {} }),
  stat(uri) {
    const text = files.get(uri.path);
    if (uri.path !== '/' && text === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const type = text === undefined ? vscode.FileType.Directory : vscode.FileType.File;
    return { type, ctime: 0, mtime: 0, size: text?.length ?? 0 };
  },
  readDirectory: () => [...files.keys()].map(name => [name.slice(1), vscode.FileType.File]),
  readFile(uri) {
    const text = files.get(uri.path);
    if (text === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return new TextEncoder().encode(text);
  },
  createDirectory: uri => refuse(uri),
  writeFile: uri => refuse(uri),
  delete: uri => refuse(uri),
  rename: uri => refuse(uri),
};

function refuse(uri) {
  throw vscode.FileSystemError.NoPermissions(uri);
}

exports.activate = context => {
  context.subscriptions.push(
    vscode.workspace.registerFileSystemProvider('memory', provider, { isReadonly: true }),
  );
};
