/** A fault in an expression or in its evaluation; the message is meant for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}
