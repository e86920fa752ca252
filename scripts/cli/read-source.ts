import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf } from "@/server/base/errors";
import { decodeUtf8 } from "@/server/base/utf8";
import type { Terminal } from "./command";

/** A file of the caller as text; `-` is standard input. */
export async function readSource(
  file: string,
  { caller, readInput }: Pick<Terminal, "caller" | "readInput">,
): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = file === "-" ? await readInput() : await readFile(resolve(caller.folder, file));
  } catch (error) {
    const reason = codeOf(error);
    const labels: Record<string, string> = {
      ENOENT: "the file does not exist",
      EACCES: "permission denied",
      EISDIR: "it is a directory",
    };
    throw new Error(`Could not read ${file}: ${labels[reason] ?? reason}.`, { cause: error });
  }
  // Replaced bytes would be saved.
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw new Error(`Could not read ${file}: it is not UTF-8.`, { cause });
  }
}
