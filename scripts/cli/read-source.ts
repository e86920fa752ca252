import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf } from "@/server/base/errors";

/** A file of the caller as text; `-` is standard input. */
export async function readSource(file: string): Promise<string> {
  try {
    // npm, and the program of the package, run commands in the folder of the project.
    const path = resolve(process.env.INIT_CWD ?? ".", file);
    return await readFile(file === "-" ? "/dev/stdin" : path, "utf8");
  } catch (error) {
    const reason = codeOf(error);
    const labels: Record<string, string> = {
      ENOENT: "the file does not exist",
      EACCES: "permission denied",
      EISDIR: "it is a directory",
    };
    throw new Error(`Could not read ${file}: ${labels[reason] ?? reason}.`, { cause: error });
  }
}
