// What an error of the SDK means and what an operator can do about it: internal/awserr in TypeScript.

import { type Kind, TableError } from "./table.ts";

interface Answer {
  name?: string;
  code?: string; // of an error of the network
  message?: string;
  $fault?: "client" | "server";
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number }; // where it could not be read
}

// Of those below, the ones that were good when the step began.
const expired = ["ExpiredToken", "ExpiredTokenException"];

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
  "SignatureDoesNotMatch",
  "UnrecognizedClientException",
];
const clocks = ["RequestInTheFuture", "RequestTimeTooSkewed"];
// The SDK's, for answers that name none or are in no form of AWS.
const unknown = ["", "SyntaxError", "Unknown", "UnknownError"];
const missing = ["ResourceNotFoundException", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"];
const throttles = ["LimitExceededException", "OverLimit", "RequestLimitExceeded", "SlowDown"];

/** Returns the error of a call as policies name it, such as dynamodb:PutItem, on resource. */
export function explain(error: unknown, call: string, resource: string): TableError {
  const [kind, meaning] = meaningOf(error as Answer, call);
  return new TableError(kind, `${call} on ${resource}: ${meaning}: ${textOf(error as Answer)}`);
}

/** Returns the error of the search for credentials that came before a call. */
export function explainCredentials(error: unknown, call: string, resource: string): TableError {
  const { name = "", $fault } = error as Answer;
  const no = "no AWS credentials";
  const [kind, meaning]: [Kind, string] =
    name === "CredentialsProviderError"
      ? ["refused", `${no}; a step such as aws-actions/configure-aws-credentials must come first`]
      : $fault === "client" && !throttled(error as Answer)
        ? ["refused", `${no}: STS refuses the role; check its trust policy (deploy/iam/workflow-trust.json)`]
        : ["unavailable", `${no} yet`];
  return new TableError(kind, `${call} on ${resource}: ${meaning}: ${textOf(error as Answer)}`);
}

/** Such an answer shows the SDK the service's time, for the next call. Services with JSON name no code of their own for it. */
function isOffTime({ name: code = "", message = "" }: Answer): boolean {
  return (
    clocks.includes(code) ||
    (code === "InvalidSignatureException" && /^Signature (expired|not yet current)/.test(message))
  );
}

function throttled({ name: code = "", $metadata }: Answer): boolean {
  return (
    code.includes("Throttl") ||
    code.includes("ProvisionedThroughput") ||
    throttles.includes(code) ||
    $metadata?.httpStatusCode === 429
  );
}

function meaningOf(error: Answer, call: string): [Kind, string] {
  const code = error.name ?? "";
  const status = error.$metadata?.httpStatusCode ?? error.$response?.statusCode ?? 0;
  if (isOffTime(error)) return ["unavailable", "this machine's clock is wrong; trying with that of AWS"];
  if (expired.includes(code)) {
    return [
      "refused",
      "credentials have expired; take the role right before this step, for longer than its timeout (role-duration-seconds)",
    ];
  }
  if (signers.includes(code)) {
    return ["refused", "credentials refused; they must be valid, unexpired and of the account and region meant"];
  }
  if (code.includes("AccessDenied")) {
    return ["refused", `access denied; allow ${call} for this workflow's role (deploy/iam/workflow.json)`];
  }
  if (missing.includes(code))
    return ["refused", "not found; check the inputs name and aws-region, or run `remuda init`"];
  if (throttled(error)) return ["unavailable", "throttled"];
  if (error.code === "ENOTFOUND") return ["unavailable", "no such address; check the input aws-region and the network"];
  if (status >= 400 && status < 500 && ![408, 429].includes(status) && unknown.includes(code))
    return ["refused", `HTTP ${status} that is not of AWS; check AWS_ENDPOINT_URL and what stands between`];
  // Without a fault the service has not answered in its own form: a proxy, a timeout, a broken connection.
  if (error.$fault === undefined || error.$fault === "server" || status >= 500)
    return ["unavailable", "no usable answer"];
  if (status === 401 || status === 403) return ["refused", "access denied"];
  return ["invalid", "refused as invalid"];
}

/** The service's own words, on one line; what DecodeAuthorizationMessage would need is of no use here. */
function textOf(error: Answer): string {
  const text = [error.name, error.message].filter((s) => s && s !== "Error").join(": ") || String(error);
  const line = text
    .replace(/\s+/g, " ")
    .replace(/Encoded authorization failure message:.*/, "")
    .trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
