import { AppError } from "@/server/base/errors";
import { formatLimit } from "@/server/contract/sizes";
import { ByteCollector } from "./byte-collector";

export const bodyTooLarge = (limit: number) =>
  new AppError("payload_too_large", `The body is larger than ${formatLimit(limit)}.`);
export const bodyIncomplete = (cause?: unknown) =>
  new AppError("invalid_request", "The body ended before it was complete.", { cause });

/**
 * Reads a request's raw bytes, at most `limit`. Beyond that it stops and throws `payload_too_large`, whatever
 * the Content-Length. Throws `invalid_request` if the sender disconnects.
 */
export async function readBody(request: Request, limit: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) {
    await request.body?.cancel().catch(() => {});
    throw bodyTooLarge(limit);
  }
  if (request.body === null) return Buffer.alloc(0);
  const body = new ByteCollector();
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw bodyIncomplete(cause);
    });
    if (done) return body.finish();
    if (body.size + value.byteLength > limit) {
      await reader.cancel().catch(() => {});
      throw bodyTooLarge(limit);
    }
    body.add(value);
  }
}
