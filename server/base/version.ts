import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(process.cwd(), "package.json"), "utf8"))).version;
