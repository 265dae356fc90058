import { workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';

/**
 * Sets the context key of Restricted Mode. VS Code's own key, `isWorkspaceTrusted`, is absent while a window starts,
 * which looks like "not trusted", so user-visible `when` clauses use this one.
 */
export class RestrictedMode implements Disposable {
  private readonly key = new ContextKeyValue<boolean>(ContextKey.restricted);
  private readonly listener: Disposable;

  constructor() {
    const update = () => this.key.set(!workspace.isTrusted);
    this.listener = workspace.onDidGrantWorkspaceTrust(update);
    update();
  }

  dispose(): void {
    this.listener.dispose();
  }
}
