import { z } from "zod";

/** Next calls this once, before its server takes requests. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { serveWithNext } = await import("./serve/next");
  await serveWithNext();
}

/** Next calls this when a page fails; it logs nothing itself (serve/pages.ts). The page shows the digest. */
export function onRequestError(error: unknown, { method, path }: { method: string; path: string }): void {
  const { digest = "" } = z.object({ digest: z.string() }).partial().catch({}).parse(error);
  const [withoutQuery] = path.split("?", 1);
  console.error(`A page failed: ${method} ${withoutQuery} (reference ${digest})`, error);
}
