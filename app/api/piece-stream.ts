import { AppError } from "@/server/base/errors";
import { isStillMember } from "@/server/catalog/auth/sessions";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import type { Call } from "./handlers";

// A slow reader may take hours.
const CHECK_MEMBER_EVERY_MS = 15_000;

type Options = { name: "export" | "download"; onOver?: () => void };

/**
 * Sends a file piece by piece, as its reader takes it, each piece in its organization's turn. Ends incomplete if a piece
 * fails or the person is no longer a member. `onOver` is called at the end, however it ends.
 */
export function streamPieces(
  { services, request, actor }: Call,
  pieces: AsyncGenerator<string>,
  { name, onOver = () => {} }: Options,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Next may clear the request's headers after the handler has answered.
  const headers = new Headers(request.headers);
  let checkedAt = services.clock.monotonicMs();
  const requireMember = async () => {
    if (services.clock.monotonicMs() - checkedAt < CHECK_MEMBER_EVERY_MS) return;
    checkedAt = services.clock.monotonicMs();
    if (!(await isStillMember(services, headers, actor)))
      throw new AppError("unauthenticated", "The person is no longer a member.");
  };
  let isCancelled = false;
  return new ReadableStream<Uint8Array>({
    // Called when the reader has taken the previous piece.
    async pull(controller) {
      try {
        await requireMember();
        const work = () => pieces.next();
        const { value, done } = await queueDashboardCall(services, actor.orgId, { work });
        // The controller takes nothing more.
        if (isCancelled) return;
        if (!done) return controller.enqueue(encoder.encode(value));
        onOver();
        controller.close();
      } catch (error) {
        if (isCancelled) return;
        onOver();
        services.log.error(name === "export" ? "An export failed" : "A download failed", {
          orgId: actor.orgId,
          error,
        });
        // The file and the connection end early, so the browser reports a failed download.
        throw error;
      }
    },
    async cancel() {
      isCancelled = true;
      onOver();
      await pieces.return(undefined);
    },
  });
}
