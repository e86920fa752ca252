import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns true if a program is on the PATH. Tests that need it are skipped otherwise. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}
