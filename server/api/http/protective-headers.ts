import { randomBytes } from "node:crypto";

function everywhere(https: boolean): Record<string, string> {
  return {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    ...(https ? { "Strict-Transport-Security": "max-age=31536000; includeSubDomains" } : {}),
  };
}

/** Headers of a page, its files and its data. `pagePolicy` gives the content security policy. */
export function pageHeaders(https: boolean): Record<string, string> {
  return {
    ...everywhere(https),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}

/** Headers of an API response: a browser that opens one may neither run nor frame anything in it. */
export function dataHeaders(https: boolean): Record<string, string> {
  return {
    ...everywhere(https),
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  };
}

/**
 * Creates a page's content security policy with a fresh nonce, which Next reads from the request's header. `dev`
 * also allows hot reloading and Next's overlay.
 */
export function pagePolicy({ dev = false } = {}): string {
  const nonce = randomBytes(16).toString("base64");
  return [
    "default-src 'self'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ""}`,
    // A nonce would disable 'unsafe-inline'.
    dev ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${dev ? " ws:" : ""}`,
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
