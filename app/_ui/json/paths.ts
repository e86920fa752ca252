import { anyCase } from "@/server/base/json/any-case";
import { isContainer, type Json } from "@/server/base/json/json";

/** A JSON value with members. */
export type JsonNode = Json[] | { [key: string]: Json };

/** A search in a document: its pattern, the paths to show, and the number of hits. */
export type Search = { pattern: RegExp; paths: ReadonlySet<string>; hits: number; more: boolean };

const MAX_HITS = 500;

export function keysOf(value: JsonNode): string[] {
  return Array.isArray(value) ? Array.from(value.keys(), String) : Object.keys(value);
}

/** The number of members of a value, as the tree and the table write it: `[3]`, `{3}`. */
export function sizeOf(value: JsonNode): string {
  const size = keysOf(value).length;
  return Array.isArray(value) ? `[${size}]` : `{${size}}`;
}

export function memberOf(value: JsonNode, key: string): Json {
  if (Array.isArray(value)) return value[Number(key)] ?? null;
  return Object.hasOwn(value, key) ? (value[key] ?? null) : null;
}

/** The path to a member as written in code: `lines[0].sku`, `headers["content-type"]`. */
export function joinPath(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/**
 * Members whose name or plain value contains `searchText`, ignoring case, with their ancestors; at most 500 hits. A
 * match by name includes all descendants.
 */
export function searchJson(value: JsonNode, searchText: string): Search | null {
  const text = searchText.trim();
  if (text === "") return null;
  const pattern = new RegExp(anyCase(text), "u");
  const paths = new Set<string>();
  let hits = 0;
  const visit = (node: JsonNode, path: string, wanted: boolean): boolean => {
    let found = false;
    for (const key of keysOf(node)) {
      if (hits >= MAX_HITS) return found;
      const member = memberOf(node, key);
      const here = joinPath(path, key, Array.isArray(node));
      const nested = isContainer(member);
      const named = !Array.isArray(node) && pattern.test(key);
      const hit = named || (!nested && pattern.test(String(member)));
      if (hit) hits += 1;
      const children = nested ? visit(member, here, wanted || named) : false;
      if (hit || children || wanted) {
        paths.add(here);
        found = true;
      }
    }
    return found;
  };
  visit(value, "", false);
  return { pattern, paths, hits, more: hits >= MAX_HITS };
}

/** More marks would slow the page down. */
const MAX_MARKS = 200;

/** Splits a text at the hits of a pattern: even items are between hits, odd items are hits, at most 200. */
export function splitHits(text: string, pattern: RegExp): string[] {
  const parts: string[] = [];
  const all = new RegExp(pattern.source, `${pattern.flags.replace("g", "")}g`);
  let at = 0;
  for (const found of text.matchAll(all)) {
    if (parts.length >= 2 * MAX_MARKS) break;
    if (found[0] === "") continue;
    parts.push(text.slice(at, found.index), found[0]);
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
