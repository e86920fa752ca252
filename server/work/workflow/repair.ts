import type { Issue } from "@/server/base/errors";

/**
 * The one change that settles an issue: another text in place of the one at its path, another name of its key, or the
 * removal of its key.
 */
export type Repair = { label: string; change: { from: string; to: string } | { rename: string } | "remove" };

/** Replaces a misspelt text, or renames a misspelt key. */
export const replaceBy = (from: string, to: string): Repair => ({ label: `Use ${to}`, change: { from, to } });
export const renameTo = (to: string): Repair => ({ label: `Use ${to}`, change: { rename: to } });

export type WorkflowIssue = Issue & { repair?: Repair | undefined };
