/** Next calls this once, before its server takes requests. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { serveWithNext } = await import("./serve/next");
  await serveWithNext();
}
