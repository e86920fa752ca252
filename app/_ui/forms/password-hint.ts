import { MIN_PASSWORD_LENGTH } from "@/server/contract/limits";

/** Beside the field of a new password. */
export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters.`;
