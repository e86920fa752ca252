import type { Caller } from "@/scripts/cli/command";
import { runCommandLine } from "@/scripts/cli/command-line";
import type { Services } from "@/server/services";

type Answers = { password?: string; line?: string; secret?: string; input?: string; caller?: Caller };

/** Runs the command line in this process and answers what it asks for. Null: it must not need services. */
export async function callCommandLine(
  services: Services | null,
  argv: string[],
  { password = "", line = "", secret = "", input = "", caller = { folder: "." } }: Answers = {},
): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: "", err: "" };
  const terminal = {
    out: (text: string) => {
      printed.out += `${text}\n`;
    },
    err: (text: string) => {
      printed.err += `${text}\n`;
    },
    readPassword: async () => password,
    readLine: async () => line,
    readSecret: async () => secret,
    readInput: async () => Buffer.from(input),
    closed: new AbortController().signal,
    caller,
  };
  const open = () => {
    if (services === null) throw new Error("The command opened services.");
    return services;
  };
  const code = await runCommandLine(argv, terminal, open);
  return { code, ...printed };
}
