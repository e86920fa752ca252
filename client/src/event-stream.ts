/** Reads server-sent events (HTML Standard, section 9.2.6). */

export type Message = { id: string | null; event: string; data: string };

/** Turns the pieces of a stream into messages. Comments and `retry` are ignored. */
export class MessageReader {
  /** The parts of the line that has not ended. They are joined once, so that reading stays linear. */
  #line: string[] = [];
  /** After a CR, an LF is part of the same line end. */
  #afterReturn = false;
  #message = emptyMessage();
  #lines: string[] = [];

  /** Returns the messages that the piece completes. */
  read(piece: string): Message[] {
    const messages: Message[] = [];
    if (piece === "") return messages;
    const text = this.#afterReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    this.#afterReturn = piece.endsWith("\r");
    const [start = "", ...others] = text.split(/\r\n?|\n/);
    this.#line.push(start);
    for (const other of others) {
      this.#endLine(messages);
      this.#line.push(other);
    }
    return messages;
  }

  #endLine(messages: Message[]): void {
    const line = this.#line.join("");
    this.#line = [];
    if (line !== "") {
      this.#readField(line);
      return;
    }
    if (this.#lines.length > 0) messages.push({ ...this.#message, data: this.#lines.join("\n") });
    this.#message = emptyMessage();
    this.#lines = [];
  }

  #readField(line: string): void {
    const at = line.indexOf(":");
    const name = at === -1 ? line : line.slice(0, at);
    const value = at === -1 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "data") this.#lines.push(value);
    else if (name === "event") this.#message.event = value;
    else if (name === "id" && !value.includes("\0")) this.#message.id = value;
  }
}

const emptyMessage = (): Message => ({ id: null, event: "message", data: "" });

/** The messages of a body. `onBytes` is called for each piece, also for comments. */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<Message, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const messages = new MessageReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield* messages.read(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.releaseLock();
  }
}
