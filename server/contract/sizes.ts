/** Size limits in bytes (docs/contract.md, "Limits"). */
export const KIB = 1024;
export const MIB = 1024 * KIB;

/** A limit for people: `64 KiB`, `4 MiB`, `1000 bytes`. */
export function formatLimit(bytes: number): string {
  if (bytes % KIB !== 0) return `${bytes} bytes`;
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`;
}

/** A tool's input and a webhook's body. */
export const MAX_BODY_BYTES = 1 * MIB;
/** An agent's user message, in UTF-8. */
export const MAX_USER_MESSAGE_BYTES = 256 * KIB;
/** Endpoint 2's body: a user message of 256 KiB can be six times as large as escaped JSON. */
export const MAX_START_AGENT_BODY_BYTES = 6 * MAX_USER_MESSAGE_BYTES + 64 * KIB;
/** The header X-Metadata. */
export const MAX_METADATA_BYTES = 2 * KIB;
/** A dashboard call: a tool's input of 1 MiB can be six times as large as escaped JSON. */
export const MAX_DASHBOARD_CALL_BYTES = 6 * MAX_BODY_BYTES + 64 * KIB;
export const MAX_SIGN_IN_BYTES = 16 * KIB;
export const MAX_FINAL_OUTPUT_BYTES = 4 * MIB;
/** A text in a callback's body. A longer one is null, and the body has its address. */
export const MAX_CALLBACK_TEXT_BYTES = 256 * KIB;
/** One function's output. Beyond it an agent gets a preview, and a workflow's step fails. */
export const MAX_STEP_OUTPUT_BYTES = 1 * MIB;
/** The values that one template inserts together, in characters. */
export const MAX_INSERTED_LENGTH = 8 * MIB;
/** The inputs of a tool run's calls together. */
export const MAX_STEP_INPUTS_BYTES = 16 * MIB;
/** The outputs of a run's steps together. Beyond it an agent gets previews, and a tool's run fails. */
export const MAX_STEP_OUTPUTS_BYTES = 16 * MIB;
/** The same with the steps of the runs in progress that it calls. */
export const MAX_TREE_OUTPUTS_BYTES = 64 * MIB;
/** The answers of an agent's model together; of all models of a run and of the runs that it calls: MAX_TREE_OUTPUTS_BYTES. */
export const MAX_ANSWERS_BYTES = 16 * MIB;

export const MAX_FALLBACK_MODELS = 3;
