import { expect, test } from "vitest";
import { pagePolicy } from "./protective-headers";

test("a page's policy allows inline scripts and styles only with the request's nonce", () => {
  const policy = pagePolicy();
  expect(policy).not.toMatch(/unsafe-|https?:|ws:/);
  expect(policy).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic';/);
  expect(policy).toMatch(/style-src 'self' 'nonce-[^']+';/);
  expect(pagePolicy()).not.toBe(policy);
});

test("in development the policy adds only what the tooling needs, and scripts still need the nonce", () => {
  const policy = pagePolicy({ dev: true });
  expect(policy).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic' 'unsafe-eval';/);
  expect(policy).toContain("style-src 'self' 'unsafe-inline';");
});
