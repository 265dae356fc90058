// Takes the place of VS Code's own GitHub account, because it has its id and a higher version: whoever asks gets a session with the token that the test has put into the
// environment of the window's server.
const vscode = require('vscode');

exports.activate = context => {
  // The fake server is none of github.com, so that only the other account may be used for it.
  for (const [id, label] of [
    ['github', 'GitHub'],
    ['github-enterprise', 'GitHub Enterprise'],
  ]) {
    register(context, id, label);
  }
};

function register(context, id, label) {
  const emitter = new vscode.EventEmitter();
  const sessions = [];
  context.subscriptions.push(
    emitter,
    vscode.authentication.registerAuthenticationProvider(id, label, {
      onDidChangeSessions: emitter.event,
      getSessions: async () => sessions,
      createSession: async scopes => {
        const session = {
          id: 'fake',
          accessToken: `${id === 'github' ? 'wrong-' : ''}${process.env.FAKE_GITHUB_SESSION}`,
          account: { id: 'octocat', label: 'octocat' },
          scopes: [...scopes],
        };
        sessions.push(session);
        emitter.fire({ added: [session], removed: [], changed: [] });
        return session;
      },
      removeSession: async () => undefined,
    }),
  );
}
