import type { AgentErrorKind } from '../agent.ts';

/** Error names of the CLI, mapped to the kinds that decide how to continue. */
const errorKinds: ReadonlyMap<string, AgentErrorKind> = new Map([
  ['authentication_failed', 'authentication'],
  ['oauth_org_not_allowed', 'authentication'],
  ['account_on_hold', 'authentication'],
  ['verification_required', 'authentication'],
  ['cloud_credential_error', 'authentication'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rateLimit'],
  ['overloaded', 'overloaded'],
  // Retries do not help if the model does not exist.
  ['model_not_found', 'request'],
]);

/**
 * The API rejects a conversation with inconsistent tool calls; the CLI has its own messages for some of these
 * errors.
 */
const mixedUpToolCalls =
  /tool_use\W{1,4}ids must be unique|duplicate tool_use id|tool use concurrency|tool_use\W{1,4}ids were found without/i;

/** The kind of an error that the CLI names, or of its HTTP status. */
export function kindOf(
  name: string | undefined,
  status: number | undefined,
): AgentErrorKind | undefined {
  return (name === undefined ? undefined : errorKinds.get(name)) ?? kindOfStatus(status);
}

/**
 * The kind of a failed call.
 * @param name the error of its last message
 */
export function kindOfFailure(
  name: string | undefined,
  status: number | undefined,
  message: string,
): AgentErrorKind {
  if ((status === undefined || status === 400) && mixedUpToolCalls.test(message)) {
    return 'toolConcurrency';
  }
  // A lost connection has an error name but no status; it is as transient as a failed request.
  return kindOf(name, status) ?? (name === undefined ? 'other' : 'api');
}

function kindOfStatus(status: number | undefined): AgentErrorKind | undefined {
  switch (status) {
    case undefined:
      return undefined;
    case 401:
    case 403:
      return 'authentication';
    case 402:
      return 'billing';
    // The server timed out, or was temporarily busy: both are transient.
    case 408:
    case 409:
      return 'api';
    case 429:
      return 'rateLimit';
    case 529:
      return 'overloaded';
    default:
      return status >= 400 && status < 500 ? 'request' : 'api';
  }
}
