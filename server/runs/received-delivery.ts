export type CallContent = {
  /** A JSON object, without secrets. */
  headers: string;
  /** Empty if it is not stored; `notStored` has the reason. */
  body: Buffer;
  notStored?: BodyNotStored;
  /** Of a rejected signature, as JSON. */
  signatureCheck?: string;
};

/** `bytes`: the body's size as far as known. `reason` completes "The body was not stored: …". */
type BodyNotStored = { bytes: number; reason: string };

export type ReceivedDelivery = CallContent & {
  id: string;
  senderId: string | null;
  redeliveryOf: string | null;
};
