import { MIN_PASSWORD_LENGTH } from "@/server/contract/limits";

export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters.`;
