// Takes the place of VS Code's own GitHub account, because it has its id and a higher version: whoever asks gets a session with the token that the test has put into the
// environment of the window's server.
const vscode = require('vscode');

exports.activate = context => {
  const emitter = new vscode.EventEmitter();
  const sessions = [];
  context.subscriptions.push(
    emitter,
    vscode.authentication.registerAuthenticationProvider('github', 'GitHub', {
      onDidChangeSessions: emitter.event,
      getSessions: async () => sessions,
      createSession: async scopes => {
        const session = {
          id: 'fake',
          accessToken: process.env.FAKE_GITHUB_SESSION,
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
};
