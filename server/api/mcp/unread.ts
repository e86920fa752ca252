/** Beyond it, no more events are read for a slow client. */
const MOST_UNREAD = 32;

/** Counts the messages of a response that its client has not taken yet. */
export class Unread {
  #count = 0;
  #wake = () => {};

  add(): void {
    this.#count += 1;
  }

  take(): void {
    // Comments that keep the connection alive are not counted when they are sent.
    this.#count = Math.max(0, this.#count - 1);
    if (this.#count < MOST_UNREAD) this.#wake();
  }

  /** Resolves when the client has taken enough, or with the signal. */
  async drained(signal: AbortSignal): Promise<void> {
    if (this.#count < MOST_UNREAD || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/** Passes a response on, piece by piece, as its client takes it. `onOver` is called at its end, however it ends. */
export function passOn(
  body: ReadableStream<Uint8Array>,
  { unread, onOver }: { unread: Unread; onOver: () => void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          onOver();
          throw error;
        });
        if (!done) {
          unread.take();
          return controller.enqueue(value);
        }
        onOver();
        controller.close();
      },
      cancel(reason) {
        onOver();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
