import { StringDecoder } from "node:string_decoder";
import { MAX_EVENT_LENGTH } from "@/server/models/answer-limits";
import { AnswerTooLarge } from "@/server/models/chat-completion";

/**
 * Reads server-sent events (HTML standard, section 9.2.6) from bytes as they arrive: only the data of each event, since
 * chat completions use nothing else. The time grows with the bytes, however they are cut. An event that the stream ends
 * in is dropped, as the standard asks.
 */
export class EventStreamReader {
  readonly #decoder = new StringDecoder("utf8");
  #begun = false;
  /** The last character was a CR: an LF right after it belongs to the same line end. */
  #afterReturn = false;
  /** The line that has begun. Joined with `+=` and read only once it is complete, which keeps joining linear. */
  #line = "";
  #data: string[] = [];
  #dataLength = 0;

  /** Returns the data of the events that these bytes complete. Throws AnswerTooLarge. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    let text = this.#decoder.write(bytes);
    if (text === "") return events;
    if (!this.#begun) {
      this.#begun = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    let from = this.#afterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#afterReturn = false;
    // Each is searched only once it lies behind, so that a line end that never comes is looked for once.
    let feed = text.indexOf("\n", from);
    let carriageReturn = text.indexOf("\r", from);
    while (feed !== -1 || carriageReturn !== -1) {
      const end = feed === -1 || (carriageReturn !== -1 && carriageReturn < feed) ? carriageReturn : feed;
      this.#grow(text.slice(from, end));
      this.#endLine(events);
      from = end + 1;
      if (end === carriageReturn) {
        if (from === text.length) this.#afterReturn = true;
        else if (feed === from) from += 1;
      }
      if (feed !== -1 && feed < from) feed = text.indexOf("\n", from);
      if (carriageReturn !== -1 && carriageReturn < from) carriageReturn = text.indexOf("\r", from);
    }
    this.#grow(text.slice(from));
    return events;
  }

  #grow(part: string): void {
    if (this.#line.length + part.length > MAX_EVENT_LENGTH) throw tooLarge("A line");
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
    if (this.#dataLength > MAX_EVENT_LENGTH) throw tooLarge("An event");
    this.#data.push(data);
  }
}

const tooLarge = (part: string) =>
  new AnswerTooLarge(`${part} of the streamed answer is longer than ${MAX_EVENT_LENGTH} characters.`);
