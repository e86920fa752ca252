import { randomBytes } from "node:crypto";

/** Headers of every response. `https`: whether people reach us by TLS. */
function everywhere(https: boolean): Record<string, string> {
  return {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    ...(https ? { "Strict-Transport-Security": "max-age=31536000; includeSubDomains" } : {}),
  };
}

/** Headers of a page, its files and its data. Its content security policy comes from `pagePolicy`. */
export function pageHeaders(https: boolean): Record<string, string> {
  return {
    ...everywhere(https),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}

/** Headers of an API response: a browser that is led to one may neither run nor frame anything in it. */
export function dataHeaders(https: boolean): Record<string, string> {
  return {
    ...everywhere(https),
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  };
}

/**
 * The content security policy of one page, with a fresh nonce. Next reads the nonce from the request's own
 * `content-security-policy` header and puts it on its scripts and styles. `dev` allows what reloading in place and Next's
 * own overlay (which puts its styles into the page) need.
 */
export function pagePolicy({ dev = false } = {}): string {
  const nonce = randomBytes(16).toString("base64");
  return [
    "default-src 'self'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ""}`,
    // A nonce would switch 'unsafe-inline' off again.
    dev ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${dev ? " ws:" : ""}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
