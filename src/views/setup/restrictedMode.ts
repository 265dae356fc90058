import { workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';

/**
 * Sets the context key of Restricted Mode. VS Code's own key, `isWorkspaceTrusted`, is absent while a window starts,
 * which looks like "not trusted", so user-visible `when` clauses use this one.
 */
export function restrictedMode(): Disposable {
  const key = new ContextKeyValue<boolean>(ContextKey.restricted);
  const update = () => key.set(!workspace.isTrusted);
  update();
  return workspace.onDidGrantWorkspaceTrust(update);
}
