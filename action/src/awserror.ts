// What an error of the SDK means and what somebody can do about it: internal/awserr in TypeScript.

import { type Kind, TableError } from "./table.ts";

interface Answer {
  name?: string;
  message?: string;
  $fault?: "client" | "server";
  $metadata?: { httpStatusCode?: number };
}

// Calls that were refused because of who signed them, how, or when. Sources: "Common errors" of the API
// references of DynamoDB and SQS.
const signers = [
  "AuthFailure",
  "ExpiredToken",
  "ExpiredTokenException",
  "IncompleteSignature",
  "IncompleteSignatureException",
  "InvalidAccessKeyId",
  "InvalidClientTokenId",
  "InvalidIdentityToken",
  "InvalidSignatureException",
  "MissingAuthenticationToken",
  "MissingAuthenticationTokenException",
  "NotSignedUp",
  "OptInRequired",
  "RequestExpired",
  "RequestInTheFuture",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
  "UnrecognizedClientException",
];
const missing = ["ResourceNotFoundException", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"];
const throttles = ["LimitExceededException", "OverLimit", "RequestLimitExceeded", "SlowDown"];

/** Returns the error of a call as policies name it, such as dynamodb:PutItem, on resource. */
export function explain(error: unknown, call: string, resource: string): TableError {
  const [kind, meaning] = meaningOf(error as Answer, call);
  return new TableError(kind, `${call} on ${resource}: ${meaning}: ${said(error as Answer)}`);
}

function meaningOf(error: Answer, call: string): [Kind, string] {
  const code = error.name ?? "";
  const status = error.$metadata?.httpStatusCode ?? 0;
  if (code === "CredentialsProviderError") {
    return ["refused", "no AWS credentials; a step such as aws-actions/configure-aws-credentials must come first"];
  }
  if (signers.includes(code)) {
    return ["refused", "credentials refused; they must be valid, unexpired and of the account and region meant"];
  }
  if (code.includes("AccessDenied")) {
    return ["refused", `access denied; allow ${call} for this workflow's role (deploy/iam/workflow.json)`];
  }
  if (missing.includes(code))
    return ["refused", "not found; check the inputs name and aws-region, or run `remuda init`"];
  if (
    code.includes("Throttl") ||
    code.includes("ProvisionedThroughput") ||
    throttles.includes(code) ||
    status === 429
  ) {
    return ["unavailable", "throttled"];
  }
  // Without a fault the service has not answered in its own form: a proxy, a timeout, a broken connection.
  if (error.$fault === undefined || error.$fault === "server" || status >= 500)
    return ["unavailable", "no usable answer"];
  if (status === 401 || status === 403) return ["refused", "access denied"];
  return ["invalid", "refused as invalid"];
}

/** The service's own words, on one line; what DecodeAuthorizationMessage would need is of no use here. */
function said(error: Answer): string {
  const text = [error.name, error.message].filter((s) => s && s !== "Error").join(": ") || String(error);
  const line = text
    .replace(/\s+/g, " ")
    .replace(/Encoded authorization failure message:.*/, "")
    .trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
