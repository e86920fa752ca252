import { z } from "zod";
import { MEMBER_ROLES } from "@/server/auth/actor";

const invitation = z.object({
  organization: z.string(),
  email: z.string(),
  role: z.enum(MEMBER_ROLES),
  invitedBy: z.string(),
  hasAccount: z.boolean(),
});
export type Invitation = z.infer<typeof invitation>;

const refused = z.object({
  code: z.string(),
  message: z.string(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});

/** A refused or failed call, with the issues of its fields. */
export class CallError extends Error {
  readonly code: string;
  readonly issues: { path: string; message: string }[];

  constructor(message: string, code: string, issues: { path: string; message: string }[] = []) {
    super(message);
    this.code = code;
    this.issues = issues;
  }
}

export async function readInvitation(token: string): Promise<Invitation> {
  return invitation.parse(await post("read", { token }));
}

/** Throws `CallError`. `account` is for an email without one. */
export async function acceptInvitation(
  token: string,
  account?: { name: string; password: string },
): Promise<void> {
  await post("accept", { token, ...(account ? { account } : {}) });
}

async function post(act: "read" | "accept", sent: object): Promise<unknown> {
  const response = await fetch(`/api/invitations/${act}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(sent),
  }).catch(() => {
    throw new CallError(
      "The server could not be reached. Check the connection and try again.",
      "unreachable",
    );
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer;
  const read = refused.safeParse(answer);
  if (!read.success) throw new CallError("Something failed on the server. Try again.", "internal_error");
  throw new CallError(read.data.message, read.data.code, read.data.issues);
}
