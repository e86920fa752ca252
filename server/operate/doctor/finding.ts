/** The result of a check of `doctor`. */
export type Finding = { level: "ok" | "warn" | "fail"; text: string };
/** With the name of the check. */
export type Judged = { what: string } & Finding;

export const ok = (text: string) => ({ level: "ok", text }) as const;
export const warn = (text: string) => ({ level: "warn", text }) as const;
export const fail = (text: string) => ({ level: "fail", text }) as const;
