import { StringDecoder } from "node:string_decoder";
import { MAX_EVENT_LENGTH } from "@/server/work/models/port";
import { type ReplyError, replyTooLarge } from "../errors/replies";

/**
 * Reads the data of server-sent events (HTML standard, section 9.2.6) in linear time. An incomplete last event is
 * dropped.
 */
export class EventStreamReader {
  readonly #maxLength: number;
  readonly #decoder = new StringDecoder("utf8");
  #started = false;
  /** After a CR, an LF is part of the same line end. */
  #afterReturn = false;
  /** Joined with `+=` and read only when complete, which keeps joining linear. */
  #line = "";
  #data: string[] = [];
  #dataLength = 0;

  /** @param maxLength The longest line or event, in characters. */
  constructor(maxLength = MAX_EVENT_LENGTH) {
    this.#maxLength = maxLength;
  }

  /** Throws ReplyError. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    let text = this.#decoder.write(bytes);
    if (text === "") return events;
    if (this.#started ? this.#afterReturn && text.startsWith("\n") : text.startsWith("\uFEFF"))
      text = text.slice(1);
    this.#started = true;
    this.#afterReturn = text.endsWith("\r");
    if (text.includes("\r")) text = text.replaceAll(/\r\n?/g, "\n");
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) this.#endLine(events);
      this.#grow(line);
    }
    return events;
  }

  #grow(part: string): void {
    if (this.#line.length + part.length > this.#maxLength) throw this.#tooLarge("A line");
    this.#line = this.#line === "" ? part : this.#line + part;
  }

  #endLine(events: string[]): void {
    const line = this.#line;
    this.#line = "";
    if (line === "") {
      if (this.#data.length > 0) events.push(this.#data.join("\n"));
      this.#data = [];
      this.#dataLength = 0;
      return;
    }
    if (line !== "data" && !line.startsWith("data:")) return;
    const data = line.slice(line.charAt(5) === " " ? 6 : 5);
    this.#dataLength += data.length + 1;
    if (this.#dataLength > this.#maxLength) throw this.#tooLarge("An event");
    this.#data.push(data);
  }

  #tooLarge(part: string): ReplyError {
    return replyTooLarge(`${part} of the streamed answer`, this.#maxLength);
  }
}
