// A fake chat extension: its model has no intelligence, and its participant calls the tool that it is told to call.
const vscode = require('vscode');

const model = {
  id: 'fake',
  name: 'Fake Model',
  family: 'fake',
  version: '1',
  maxInputTokens: 10_000,
  maxOutputTokens: 1_000,
  isUserSelectable: true,
  isDefault: true,
  capabilities: { toolCalling: true },
};

exports.activate = async context => {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('fake', {
      provideLanguageModelChatInformation: () => [model],
      provideLanguageModelChatResponse: async (_model, _messages, _options, progress) => {
        progress.report(new vscode.LanguageModelTextPart('I am a fake.'));
      },
      provideTokenCount: async () => 1,
    }),
    vscode.chat.createChatParticipant(
      'ralph-fresh-test.chat',
      async ({ prompt, toolInvocationToken }, _context, stream, token) => {
        const [, name, input] = /(\w+)(?: (\{.*\}))?$/.exec(prompt.trim());
        try {
          const { content } = await vscode.lm.invokeTool(
            name,
            { input: JSON.parse(input ?? '{}'), toolInvocationToken },
            token,
          );
          stream.markdown(`\`\`\`json\n${content.map(part => part.value).join('')}\n\`\`\``);
        } catch (error) {
          stream.markdown(`Refused: ${error.message}`);
        }
      },
    ),
  );
  // VS Code resolves models on request; here, nothing else requests them.
  await vscode.lm.selectChatModels({ vendor: 'fake' });
};
