/** A fault in an expression or its evaluation. The message is for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}
