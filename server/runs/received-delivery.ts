/** The stored content of a call. */
export type CallContent = {
  /** The request's headers as a JSON object, without secrets. */
  headers: string;
  /** Empty if it is not stored; `notStored` has the reason. */
  body: Buffer;
  notStored?: BodyNotStored;
};

/** `bytes`: the size of the body as far as known. `reason` completes "The body was not stored: …". */
type BodyNotStored = { bytes: number; reason: string };

/** A webhook call as received, stored for inspection and redelivery. */
export type ReceivedDelivery = CallContent & {
  id: string;
  /** The sender's own id: Idempotency-Key or webhook-id. */
  senderId: string | null;
  redeliveryOf: string | null;
};
